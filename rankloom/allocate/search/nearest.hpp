// SPDX-License-Identifier: Apache-2.0
// allocate/search: free nodes that are close to each other, isolated or not (Zhang 2014, section 4, fallback a).
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

/// n free nodes of the smallest diameter in a 2D mesh, exactly. After rotation by 45 degrees, nodes that are at most D
/// hops apart are the nodes in a square of side D. O(nodes · log nodes).
std::vector<Node> nearest_in_2d_mesh(std::uint32_t width, std::uint32_t height, const Bitset& free,
                                     std::uint32_t nodes);

/// The n free nodes closest to the free node for which the radius of that set is smallest. The diameter is at most
/// twice the smallest possible one. O(free²).
std::vector<Node> nearest_around_centre(const Network& network, const Bitset& free, std::uint32_t nodes);

}  // namespace rankloom
