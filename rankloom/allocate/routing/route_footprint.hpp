// SPDX-License-Identifier: Apache-2.0
// allocate/routing: route footprints by the shape of the network; one factory per shape.
#pragma once

#include <memory>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

std::unique_ptr<RouteFootprint> make_mesh_footprint(const Network& network, Exclusive exclusive);
std::unique_ptr<RouteFootprint> make_tree_footprint(const Network& network, Exclusive exclusive);
std::unique_ptr<RouteFootprint> make_fat_tree_footprint(const Network& network, Exclusive exclusive);
/// For any network, by walking every route.
std::unique_ptr<RouteFootprint> make_walked_footprint(const Network& network, Exclusive exclusive);

}  // namespace rankloom
