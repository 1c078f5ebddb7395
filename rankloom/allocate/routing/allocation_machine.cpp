// SPDX-License-Identifier: Apache-2.0
// allocate/routing: diameters of sets of nodes; capacities and holes of a machine.
#include "rankloom/allocate/routing/allocation_machine.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

/// On a mesh the hops between two nodes are the sum of the differences of their coordinates. The most distant pair is
/// therefore the pair with the largest difference in one of the signed coordinate sums. O(nodes · 2^dimensions).
std::uint32_t mesh_diameter(std::span<const std::uint32_t> sizes, std::span<const Node> nodes) {
  std::int64_t diameter = 0;
  for (std::uint32_t signs = 0; signs < 1U << (sizes.size() - 1); ++signs) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (const Node node : nodes) {
      std::int64_t sum = 0;
      std::uint32_t rest = index(node);
      for (std::size_t j = sizes.size(); j-- > 0; rest /= sizes[j])
        sum += ((signs >> j) & 1) != 0 ? -std::int64_t{rest % sizes[j]} : std::int64_t{rest % sizes[j]};
      low = std::min(low, sum);
      high = std::max(high, sum);
    }
    diameter = std::max(diameter, high - low);
  }
  return static_cast<std::uint32_t>(diameter);
}

}  // namespace

std::uint32_t diameter_of(const Network& network, std::span<const Node> nodes) {
  const auto* const mesh = std::get_if<MeshShape>(&network.shape());
  if (nodes.empty()) return 0;
  if (mesh != nullptr && !mesh->torus && mesh->sizes.size() < 6) return mesh_diameter(mesh->sizes, nodes);
  const auto farthest = [&](Node from) {
    return *std::max_element(nodes.begin(), nodes.end(),
                             [&](Node a, Node b) { return network.hops(from, a) < network.hops(from, b); });
  };
  // In a tree, the node that is most distant from an arbitrary node is an end of the most distant pair.
  const bool is_tree =
      std::holds_alternative<TreeShape>(network.shape()) || std::holds_alternative<FatTreeShape>(network.shape());
  if (is_tree) {
    const Node end = farthest(nodes[0]);
    return network.hops(end, farthest(end));
  }
  std::uint32_t diameter = 0;
  for (const Node from : nodes) diameter = std::max(diameter, network.hops(from, farthest(from)));
  return diameter;
}

AllocationMachine::AllocationMachine(Topology topology, Exclusive exclusive)
    : topology_(std::make_shared<const Topology>(std::move(topology))),
      route_footprint_(make_route_footprint(topology_->network(), exclusive)),
      holes_(topology_->node_count()) {
  std::vector<std::uint64_t> capacity(node_count());
  for (const Core core : topology_->cores()) capacity[index(topology_->node_of(core))] += topology_->capacity(core);
  std::uint64_t smallest = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (capacity[node] == 0) {
      holes_.set(node);
    } else {
      smallest = std::min(smallest, capacity[node]);
    }
  }
  cores_per_node_ = static_cast<std::uint32_t>(smallest);
}

}  // namespace rankloom
