// SPDX-License-Identifier: Apache-2.0
// map: recursive bisection of the nodes of a network.
#include "rankloom/map/locality_order.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Between the first cores of two parts, both directions added up, because a distance table can be asymmetric.
double distance(const Topology& topology, const Part& a, const Part& b) {
  const Cost forward = topology.cost(Core{a.begin}, Core{b.begin});
  const Cost backward = topology.cost(Core{b.begin}, Core{a.begin});
  const double inverse_bandwidth = forward.inverse_bandwidth + backward.inverse_bandwidth;
  return inverse_bandwidth > 0 ? inverse_bandwidth : forward.latency + backward.latency;
}

const Part& farthest_part(const Topology& topology, std::span<const Part> parts, const Part& from) {
  const Part* best = &parts.front();
  double max_distance = -1;
  for (const Part& part : parts) {
    const double to_part = distance(topology, from, part);
    if (to_part > max_distance) best = &part, max_distance = to_part;
  }
  return *best;
}

/// Sorts by the key; equal keys by the first core.
template <class Key>
void sort_by(std::span<Part> parts, const Key& key) {
  std::vector<std::pair<double, Part>> keyed;
  keyed.reserve(parts.size());
  for (const Part& part : parts) keyed.emplace_back(key(part), part);
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.begin < b.second.begin;
  });
  std::transform(keyed.begin(), keyed.end(), parts.begin(), [](const auto& entry) { return entry.second; });
}

std::uint32_t node_of(const Topology& topology, const Part& part) {
  return index(topology.node_of(Core{part.begin}));
}

std::uint32_t coordinate(const Topology& topology, const MeshShape& mesh, const Part& part, std::size_t dimension) {
  std::uint32_t node = node_of(topology, part);
  for (std::size_t inner = mesh.sizes.size(); inner-- > dimension + 1;) node /= mesh.sizes[inner];
  return node % mesh.sizes[dimension];
}

/// Sorts along the longest side of the bounding box of the parts. Returns its dimension.
std::size_t sort_along_mesh(const Topology& topology, const MeshShape& mesh, std::span<Part> parts) {
  std::size_t longest = 0;
  std::uint32_t longest_side = 0;
  for (std::size_t dimension = 0; dimension < mesh.sizes.size(); ++dimension) {
    std::uint32_t low = mesh.sizes[dimension], high = 0;
    for (const Part& part : parts) {
      low = std::min(low, coordinate(topology, mesh, part, dimension));
      high = std::max(high, coordinate(topology, mesh, part, dimension));
    }
    if (high - low > longest_side) longest = dimension, longest_side = high - low;
  }
  sort_by(parts, [&](const Part& part) { return coordinate(topology, mesh, part, longest); });
  return longest;
}

void sort_between_ends(const Topology& topology, std::span<Part> parts) {
  const Part first_end = farthest_part(topology, parts, parts.front());
  const Part second_end = farthest_part(topology, parts, first_end);
  sort_by(parts,
          [&](const Part& part) { return distance(topology, part, second_end) - distance(topology, part, first_end); });
}

void bisect(const Topology& topology, const MeshShape* mesh, std::span<Part> parts) {
  if (parts.size() <= 2) return;
  mesh != nullptr ? static_cast<void>(sort_along_mesh(topology, *mesh, parts)) : sort_between_ends(topology, parts);
  bisect(topology, mesh, parts.first(parts.size() / 2));
  bisect(topology, mesh, parts.subspan(parts.size() / 2));
}

/// The position closest to the middle at which the group changes; the middle if all are in one group.
template <class Group>
std::size_t boundary_near_middle(std::span<const Part> parts, const Group& group) {
  const std::size_t middle = parts.size() / 2;
  const auto is_boundary = [&](std::size_t at) { return group(parts[at - 1]) != group(parts[at]); };
  for (std::size_t step = 0; step < parts.size(); ++step) {
    if (middle >= step + 1 && is_boundary(middle - step)) return middle - step;
    if (middle + step < parts.size() && is_boundary(middle + step)) return middle + step;
  }
  return middle;
}

/// The numbers of nodes below a switch, a router or in a group, the largest first, if the nodes are numbered in this
/// order.
std::vector<std::uint32_t> group_sizes(const NetworkShape& shape) {
  std::vector<std::uint32_t> sizes;
  if (const auto* const dragonfly = std::get_if<DragonflyShape>(&shape))
    return {dragonfly->routers * dragonfly->nodes, dragonfly->nodes};
  if (const auto* const fat_tree = std::get_if<FatTreeShape>(&shape)) {
    std::uint32_t below = 1;
    for (std::size_t level = fat_tree->children.size(); level-- > 1;) {
      below *= fat_tree->children[level];
      sizes.insert(sizes.begin(), below);
    }
  }
  return sizes;
}

}  // namespace

std::size_t split_by_locality(const Topology& topology, std::span<Part> parts) {
  if (topology.routed()) {
    const NetworkShape& shape = topology.network().shape();
    if (const auto* const mesh = std::get_if<MeshShape>(&shape)) {
      const std::size_t dimension = sort_along_mesh(topology, *mesh, parts);
      return boundary_near_middle(std::span<const Part>(parts),
                                  [&](const Part& part) { return coordinate(topology, *mesh, part, dimension); });
    }
    for (const std::uint32_t size : group_sizes(shape)) {
      const auto group = [&](const Part& part) { return node_of(topology, part) / size; };
      if (group(parts.front()) == group(parts.back())) continue;
      return boundary_near_middle(std::span<const Part>(parts), group);
    }
    if (!group_sizes(shape).empty()) return parts.size() / 2;
  }
  sort_between_ends(topology, parts);
  return parts.size() / 2;
}

std::vector<Part> locality_order(const Topology& topology, std::span<const Part> parts) {
  std::vector<Part> order(parts.begin(), parts.end());
  const MeshShape* const mesh = topology.routed() ? std::get_if<MeshShape>(&topology.network().shape()) : nullptr;
  bisect(topology, mesh, order);
  return order;
}

bool has_network(const MachineTree& tree, const Part& part) {
  const Topology& topology = tree.topology();
  if (part.is_core()) return false;
  return topology.is_matrix() || (topology.routed() && part.next_level == topology.node_level());
}

}  // namespace rankloom
