// SPDX-License-Identifier: Apache-2.0
// map: makes a partition fit that puts too many elements into some parts, as partitioners return them.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// Elements leave parts that hold more than their room, for parts that have some: as few as must, and at each step the
/// one that loses least by it, the lowest of equals. Parts are all equally far from each other. `room` together must
/// hold everybody. O(edges + moves x (degree + log elements)).
void settle(const Affinity& affinity, std::span<std::uint32_t> part_of, std::span<const std::uint64_t> room);

}  // namespace rankloom
