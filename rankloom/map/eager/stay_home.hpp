// SPDX-License-Identifier: Apache-2.0
// map/eager: which core each bin of a packing becomes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"

namespace rankloom {

/// The same packing with its bins renamed so that much load stays on the core where it was: pairs of a bin and a core
/// by falling common load. A bin becomes a core with as many places. O(ranks log ranks + bins).
std::vector<std::uint32_t> stay_home(std::span<const std::uint32_t> bin_of, std::span<const Core> home,
                                     std::span<const double> loads, std::span<const std::uint32_t> places);

}  // namespace rankloom
