// SPDX-License-Identifier: Apache-2.0
// allocate: f_rule by the shape of the network; one maker a shape, each in a file of its own.
#pragma once

#include <memory>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/model/network/networks.hpp"

namespace rankloom {

std::unique_ptr<RoutingRule> make_mesh_rule(const Network& network, Exclusive exclusive);
std::unique_ptr<RoutingRule> make_tree_rule(const Network& network, Exclusive exclusive);
std::unique_ptr<RoutingRule> make_fat_tree_rule(const Network& network, Exclusive exclusive);
std::unique_ptr<RoutingRule> make_walked_rule(const Network& network, Exclusive exclusive);

}  // namespace rankloom
