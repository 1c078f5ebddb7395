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

/// Sorts along the longest side of the bounding box of the parts.
void sort_along_mesh(const Topology& topology, const MeshShape& mesh, std::span<Part> parts) {
  std::size_t longest = 0;
  std::uint32_t longest_side = 0;
  const auto coordinate = [&](const Part& part, std::size_t dimension) {
    std::uint32_t node = index(topology.node_of(Core{part.begin}));
    for (std::size_t inner = mesh.sizes.size(); inner-- > dimension + 1;) node /= mesh.sizes[inner];
    return node % mesh.sizes[dimension];
  };
  for (std::size_t dimension = 0; dimension < mesh.sizes.size(); ++dimension) {
    std::uint32_t low = mesh.sizes[dimension], high = 0;
    for (const Part& part : parts) {
      low = std::min(low, coordinate(part, dimension));
      high = std::max(high, coordinate(part, dimension));
    }
    if (high - low > longest_side) longest = dimension, longest_side = high - low;
  }
  sort_by(parts, [&](const Part& part) { return coordinate(part, longest); });
}

void sort_between_ends(const Topology& topology, std::span<Part> parts) {
  const Part first_end = farthest_part(topology, parts, parts.front());
  const Part second_end = farthest_part(topology, parts, first_end);
  sort_by(parts,
          [&](const Part& part) { return distance(topology, part, second_end) - distance(topology, part, first_end); });
}

void bisect(const Topology& topology, const MeshShape* mesh, std::span<Part> parts) {
  if (parts.size() <= 2) return;
  mesh != nullptr ? sort_along_mesh(topology, *mesh, parts) : sort_between_ends(topology, parts);
  bisect(topology, mesh, parts.first(parts.size() / 2));
  bisect(topology, mesh, parts.subspan(parts.size() / 2));
}

}  // namespace

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
