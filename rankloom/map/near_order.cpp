// SPDX-License-Identifier: Apache-2.0
// map: recursive halving of a network's nodes.
#include "rankloom/map/near_order.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/model/network/networks.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Both ways of a part's first core, so that one-way tables do not mislead.
double way(const Topology& topology, const Part& a, const Part& b) {
  const Cost there = topology.cost(Core{a.begin}, Core{b.begin});
  const Cost back = topology.cost(Core{b.begin}, Core{a.begin});
  const double gap = there.gap + back.gap;
  return gap > 0 ? gap : there.latency + back.latency;
}

const Part& farthest(const Topology& topology, std::span<const Part> parts, const Part& from) {
  const Part* best = &parts.front();
  double best_way = -1;
  for (const Part& part : parts) {
    const double here = way(topology, from, part);
    if (here > best_way) best = &part, best_way = here;
  }
  return *best;
}

/// Sorts by the key, the lower core first among equals.
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

/// Across the longest side of the box that holds the parts.
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
  const Part one = farthest(topology, parts, parts.front());
  const Part other = farthest(topology, parts, one);
  sort_by(parts, [&](const Part& part) { return way(topology, part, other) - way(topology, part, one); });
}

void halve(const Topology& topology, const MeshShape* mesh, std::span<Part> parts) {
  if (parts.size() <= 2) return;
  mesh != nullptr ? sort_along_mesh(topology, *mesh, parts) : sort_between_ends(topology, parts);
  halve(topology, mesh, parts.first(parts.size() / 2));
  halve(topology, mesh, parts.subspan(parts.size() / 2));
}

}  // namespace

std::vector<Part> near_order(const Topology& topology, std::span<const Part> parts) {
  std::vector<Part> order(parts.begin(), parts.end());
  const MeshShape* const mesh = topology.routed() ? std::get_if<MeshShape>(&topology.network().shape()) : nullptr;
  halve(topology, mesh, order);
  return order;
}

bool has_network(const MachineTree& tree, const Part& part) {
  const Topology& topology = tree.topology();
  if (part.is_core()) return false;
  return topology.is_matrix() || (topology.routed() && part.next_level == topology.node_level());
}

}  // namespace rankloom
