// SPDX-License-Identifier: Apache-2.0
// place/joint: sets of nodes up to the symmetries of the network.
#include "rankloom/place/joint/node_set.hpp"

#include <algorithm>
#include <numeric>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

/// The coordinates of a set in one dimension.
struct Arc {
  std::uint32_t size = 1;  // of the network
  std::uint32_t first = 0, extent = 1;
};

/// The smallest interval with all coordinates; on a torus it may wrap around.
Arc smallest_arc(std::vector<std::uint32_t> coordinates, std::uint32_t size, bool torus) {
  std::sort(coordinates.begin(), coordinates.end());
  coordinates.erase(std::unique(coordinates.begin(), coordinates.end()), coordinates.end());
  Arc arc{size, coordinates.front(), coordinates.back() - coordinates.front() + 1};
  if (!torus) return arc;
  std::uint32_t largest_gap = size - arc.extent;  // between the last and the first coordinate
  for (std::size_t i = 1; i < coordinates.size(); ++i) {
    const std::uint32_t gap = coordinates[i] - coordinates[i - 1] - 1;
    if (gap > largest_gap) largest_gap = gap, arc.first = coordinates[i];
  }
  arc.extent = size - largest_gap;
  return arc;
}

NodeSet in_mesh(const MeshShape& mesh, std::span<const Node> nodes) {
  const std::size_t dimensions = mesh.sizes.size();
  std::vector<std::vector<std::uint32_t>> coordinates(dimensions);  // by dimension and node
  for (auto& of_dimension : coordinates) of_dimension.reserve(nodes.size());
  for (const Node node : nodes) {
    std::uint32_t rest = index(node);  // the last dimension changes fastest
    for (std::size_t d = dimensions; d-- > 0; rest /= mesh.sizes[d]) coordinates[d].push_back(rest % mesh.sizes[d]);
  }
  std::vector<Arc> arcs;
  for (std::size_t d = 0; d < dimensions; ++d) arcs.push_back(smallest_arc(coordinates[d], mesh.sizes[d], mesh.torus));
  std::vector<std::size_t> order(dimensions);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(arcs[a].extent, arcs[a].size) > std::pair(arcs[b].extent, arcs[b].size);
  });
  NodeSet set;
  std::vector<std::pair<std::uint32_t, Node>> placed;  // position in the box, node
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::uint32_t position = 0;
    for (const std::size_t d : order)
      position = position * arcs[d].extent + (coordinates[d][i] + arcs[d].size - arcs[d].first) % arcs[d].size;
    placed.emplace_back(position, nodes[i]);
  }
  std::sort(placed.begin(), placed.end());
  std::uint32_t volume = 1;
  for (const std::size_t d : order) {
    const Arc& arc = arcs[d];
    set.extents.push_back(arc.extent);
    volume *= arc.extent;
    // Where an arc is longer than half of a ring, messages also go around the ring.
    const bool wraps = mesh.torus && 2 * arc.extent > arc.size;
    set.key += wraps ? fmt::format("{}/{}x", arc.extent, arc.size) : fmt::format("{}x", arc.extent);
  }
  for (const auto& [position, node] : placed) {
    set.positions.push_back(position);
    set.nodes.push_back(node);
  }
  if (volume != nodes.size()) set.key += fmt::format(":{}", fmt::join(set.positions, ","));
  return set;
}

/// The switches above each node, from the top down.
std::vector<std::vector<std::uint32_t>> switches_above(const NetworkShape& shape, std::span<const Node> nodes) {
  std::vector<std::vector<std::uint32_t>> result;
  for (const Node node : nodes) {
    std::vector<std::uint32_t>& above = result.emplace_back();
    if (const auto* const tree = std::get_if<TreeShape>(&shape)) {
      for (Vertex at = tree->parent[index(node)];; at = tree->parent[index(at)]) {
        above.push_back(index(at));
        if (tree->parent[index(at)] == at) break;
      }
      std::reverse(above.begin(), above.end());
    } else {
      const auto& children = std::get<FatTreeShape>(shape).children;
      std::uint32_t below = index(node);
      std::vector<std::uint32_t> groups;
      for (std::size_t level = children.size(); level-- > 0;) {
        below /= children[level];
        groups.push_back(below);
      }
      above.assign(groups.rbegin(), groups.rend());
    }
  }
  return result;
}

/// A part of the set: nodes with the same switches down to some depth.
struct Group {
  std::string key;
  std::vector<Node> nodes;
};

Group canonical_group(std::span<const Node> nodes, std::span<const std::vector<std::uint32_t>> above,
                      std::size_t depth) {
  std::vector<Group> parts;
  std::vector<Node> direct;
  for (std::size_t begin = 0; begin < nodes.size();) {
    if (above[begin].size() <= depth) {
      direct.push_back(nodes[begin++]);
      continue;
    }
    std::size_t end = begin + 1;
    while (end < nodes.size() && above[end].size() > depth && above[end][depth] == above[begin][depth]) ++end;
    parts.push_back(canonical_group(nodes.subspan(begin, end - begin), above.subspan(begin, end - begin), depth + 1));
    begin = end;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Group& a, const Group& b) {
    return a.nodes.size() != b.nodes.size() ? a.nodes.size() > b.nodes.size() : a.key < b.key;
  });
  Group group;
  for (Group& part : parts) {
    group.key += part.key;
    group.nodes.insert(group.nodes.end(), part.nodes.begin(), part.nodes.end());
  }
  if (!direct.empty()) group.key += std::to_string(direct.size());
  group.key = "(" + group.key + ")";
  group.nodes.insert(group.nodes.end(), direct.begin(), direct.end());
  return group;
}

/// Orders the nodes so that those of a switch are consecutive, whatever their numbers.
NodeSet in_tree(const NetworkShape& shape, std::span<const Node> nodes) {
  const auto unordered = switches_above(shape, nodes);
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return unordered[a] < unordered[b]; });
  std::vector<Node> sorted;
  std::vector<std::vector<std::uint32_t>> above;
  for (const std::size_t i : order) {
    sorted.push_back(nodes[i]);
    above.push_back(unordered[i]);
  }
  Group group = canonical_group(sorted, above, 0);
  // Switches with one child add nothing to the distances.
  std::size_t common = 0;
  while (group.key.starts_with("((") && group.key.ends_with("))") && common < group.key.size()) {
    int open = 0;
    std::size_t at = 1;
    do {
      open += group.key[at] == '(' ? 1 : group.key[at] == ')' ? -1 : 0;
      ++at;
    } while (open > 0);
    if (at != group.key.size() - 1) break;  // several children
    group.key = group.key.substr(1, group.key.size() - 2);
    ++common;
  }
  return {std::move(group.key), std::move(group.nodes)};
}

/// The coordinates of the nodes of a set in its bounding box.
class BoxCoordinates {
 public:
  explicit BoxCoordinates(const NodeSet& set) : set_(set), strides_(set.extents.size(), 1) {
    for (std::size_t d = dimensions(); d-- > 1;) strides_[d - 1] = strides_[d] * set.extents[d];
  }
  std::size_t dimensions() const { return strides_.size(); }
  std::uint32_t operator()(std::uint32_t node, std::size_t dimension) const {
    return set_.positions[node] / strides_[dimension] % set_.extents[dimension];
  }
  /// The numbers of the nodes in the set: 0, 1, ...
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> result(set_.nodes.size());
    std::iota(result.begin(), result.end(), 0U);
    return result;
  }
  std::vector<Node> nodes(std::span<const std::uint32_t> numbers) const {
    std::vector<Node> result;
    for (const std::uint32_t number : numbers) result.push_back(set_.nodes[number]);
    return result;
  }

 private:
  const NodeSet& set_;
  std::vector<std::uint32_t> strides_;
};

void bisect(const BoxCoordinates& coordinate, std::span<std::uint32_t> part) {
  if (part.size() <= 2) return;
  std::size_t longest = 0;
  std::uint32_t longest_side = 0;
  for (std::size_t d = 0; d < coordinate.dimensions(); ++d) {
    std::uint32_t low = coordinate(part[0], d), high = low;
    for (const std::uint32_t node : part) {
      low = std::min(low, coordinate(node, d));
      high = std::max(high, coordinate(node, d));
    }
    if (high - low > longest_side) longest = d, longest_side = high - low;
  }
  std::stable_sort(part.begin(), part.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return coordinate(a, longest) < coordinate(b, longest); });
  bisect(coordinate, part.first(part.size() / 2));
  bisect(coordinate, part.subspan(part.size() / 2));
}

}  // namespace

std::vector<Node> bisection_order(const NodeSet& set) {
  const BoxCoordinates coordinate(set);
  std::vector<std::uint32_t> numbers = coordinate.numbers();
  bisect(coordinate, numbers);
  return coordinate.nodes(numbers);
}

std::vector<Node> snake_order(const NodeSet& set) {
  const BoxCoordinates coordinate(set);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ordered;  // position on the snake, number
  for (const std::uint32_t number : coordinate.numbers()) {
    std::uint32_t position = 0;
    for (std::size_t d = 0; d < coordinate.dimensions(); ++d) {
      // The direction changes with every step of the dimensions before.
      const std::uint32_t at = coordinate(number, d), extent = set.extents[d];
      position = position * extent + (position % 2 == 0 ? at : extent - 1 - at);
    }
    ordered.emplace_back(position, number);
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::uint32_t> numbers;
  numbers.reserve(ordered.size());
  for (const auto& [position, number] : ordered) numbers.push_back(number);
  return coordinate.nodes(numbers);
}

NodeSet canonical_node_set(const Network& network, std::span<const Node> nodes) {
  const NetworkShape& shape = network.shape();
  if (const auto* const mesh = std::get_if<MeshShape>(&shape)) return in_mesh(*mesh, nodes);
  if (std::holds_alternative<TreeShape>(shape) || std::holds_alternative<FatTreeShape>(shape))
    return in_tree(shape, nodes);
  std::vector<std::uint32_t> numbers;
  for (const Node node : nodes) numbers.push_back(index(node));
  return {fmt::format("{}", fmt::join(numbers, ",")), {nodes.begin(), nodes.end()}};
}

}  // namespace rankloom
