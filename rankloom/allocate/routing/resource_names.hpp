// SPDX-License-Identifier: Apache-2.0
// allocate/routing: names of nodes, switches and links for administrators, who do not know the numbers of routers.
#pragma once

#include <span>
#include <string>

#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

/// A node by its name, a router of a mesh or torus by that of its node, and a switch of a tree or fat tree by the nodes
/// below it: "the switch above n1 to n16". Other routers have their number.
std::string vertex_name(const Network& network, Vertex vertex, std::span<const std::string> node_names);

/// "the switch above n1 to n16", "the router of n5", "the link from n1 to the switch above n1 to n16"
std::string resource_name(const Network& network, Exclusive exclusive, std::uint32_t resource,
                          std::span<const std::string> node_names);

/// "the switch above n1 to n16 is used by jobs 7 and 9", "the link from n1 to the switch above n1 to n16 is used by …"
std::string to_string(const Conflict& conflict, const Network& network, std::span<const std::string> node_names);

}  // namespace rankloom
