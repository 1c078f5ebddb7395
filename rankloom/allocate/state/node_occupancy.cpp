// SPDX-License-Identifier: Apache-2.0
// allocate/state: counts the users of nodes, routers and links.
#include "rankloom/allocate/state/node_occupancy.hpp"

#include <cassert>
#include <variant>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

Occupancy::Occupancy(const AllocationMachine& machine)
    : free_nodes_(machine.node_count()),
      used_resources_(machine.route_footprint().resource_count()),
      jobs_on_node_(machine.node_count()),
      users_of_resource_(machine.route_footprint().resource_count()),
      availability_(machine.node_count(), Availability::available),
      nodes_are_routers_(machine.exclusive() == Exclusive::routers &&
                         std::holds_alternative<MeshShape>(machine.network().shape())) {
  for (std::uint32_t node = 0; node < machine.node_count(); ++node) {
    free_nodes_.set(node);
    ++free_count_;
  }
  machine.holes().for_each([&](std::uint32_t node) { drain(Node{node}, false); });
}

void Occupancy::occupy(Node node) {
  if (jobs_on_node_[index(node)]++ > 0 || availability_[index(node)] != Availability::available) return;
  free_nodes_.reset(index(node));
  --free_count_;
}

void Occupancy::release(Node node) {
  if (--jobs_on_node_[index(node)] > 0 || availability_[index(node)] != Availability::available) return;
  free_nodes_.set(index(node));
  ++free_count_;
}

void Occupancy::add(const Allocation& allocation) {
  for (const Node node : allocation.nodes) occupy(node);
  for (const Node node : allocation.reserved) occupy(node);
  allocation.shared_resources.for_each([&](std::uint32_t resource) { acquire_resource(resource); });
}

void Occupancy::remove(const Allocation& allocation) {
  for (const Node node : allocation.nodes) release(node);
  for (const Node node : allocation.reserved) release(node);
  allocation.shared_resources.for_each([&](std::uint32_t resource) { release_resource(resource); });
}

void Occupancy::drain(Node node, bool failed) {
  resume(node);
  if (jobs_on_node_[index(node)] == 0) {
    free_nodes_.reset(index(node));
    --free_count_;
  }
  availability_[index(node)] = failed ? Availability::failed : Availability::drained;
  if (failed && nodes_are_routers_) acquire_resource(index(node));
}

void Occupancy::resume(Node node) {
  if (availability_[index(node)] == Availability::available) return;
  if (availability_[index(node)] == Availability::failed && nodes_are_routers_) release_resource(index(node));
  availability_[index(node)] = Availability::available;
  if (jobs_on_node_[index(node)] > 0) return;
  free_nodes_.set(index(node));
  ++free_count_;
}

bool Occupancy::fits(const Allocation& allocation) const {
  for (const auto* nodes : {&allocation.nodes, &allocation.reserved}) {
    for (const Node node : *nodes) {
      if (!free_nodes_.test(index(node))) return false;
    }
  }
  return !allocation.isolated || !conflicts_with(allocation.shared_resources);
}

Allocation make_allocation(const AllocationMachine& machine, const Occupancy& occupancy, std::vector<Node> nodes) {
  Allocation allocation;
  allocation.shared_resources = Bitset(machine.route_footprint().resource_count());
  machine.route_footprint().add_resources(nodes, allocation.shared_resources);
  allocation.diameter = diameter_of(machine.network(), nodes);
  allocation.isolated = !occupancy.conflicts_with(allocation.shared_resources);
  allocation.nodes = std::move(nodes);
  return allocation;
}

}  // namespace rankloom
