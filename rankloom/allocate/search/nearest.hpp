// SPDX-License-Identifier: Apache-2.0
// allocate: free nodes that are near each other, closed or not (Zhang 2014, section 4, fallback a).
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/model/network.hpp"

namespace rankloom {

/// n free nodes of the least diameter in a mesh of two dimensions, exactly: turned by 45 degrees, nodes at most D hops
/// apart are those in a square of side D. O(nodes · log nodes).
std::vector<Node> nearest_in_flat_mesh(std::uint32_t width, std::uint32_t height, const Bits& free,
                                       std::uint32_t nodes);

/// The n free nodes around that free node from which the farthest of them is nearest: at most twice the least diameter.
/// O(free²).
std::vector<Node> nearest_around_a_node(const Network& network, const Bits& free, std::uint32_t nodes);

}  // namespace rankloom
