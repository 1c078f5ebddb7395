// SPDX-License-Identifier: Apache-2.0
// map/external: moves vertices out of blocks that exceed their maximum weight, as external partitioners return them.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// Moves as few elements as necessary from overloaded blocks to blocks with free capacity; each step moves the element
/// with the smallest loss, the lowest number among equals. All blocks are at equal distance from each other. The blocks
/// together must have enough capacity. O(edges + moves x (degree + log elements)).
void rebalance(const Affinity& affinity, std::span<std::uint32_t> block_of,
               std::span<const std::uint64_t> max_block_weight);

}  // namespace rankloom
