// SPDX-License-Identifier: Apache-2.0
// map/multilevel: exchanges of whole parts of the machine.
#include "rankloom/map/multilevel/object_exchange.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "rankloom/map/multilevel/part_moves.hpp"

namespace rankloom::multilevel {
namespace {

/// The parts of one level and those that hold them.
struct Floor {
  std::uint32_t cores;   ///< Of a part.
  std::uint32_t beside;  ///< Parts in a part above.
};

void exchange_on(const Floor& floor, const WeightedGraph& graph, const Distance& distance, std::span<Core> core_of,
                 std::uint32_t parts, std::uint32_t passes) {
  constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> vertex_of_part(parts, nothing);
  std::vector<std::uint32_t> part_of_vertex;
  std::vector<std::uint32_t> coarse_of(core_of.size());
  for (std::size_t at = 0; at < core_of.size(); ++at) {
    std::uint32_t& vertex = vertex_of_part[index(core_of[at]) / floor.cores];
    if (vertex == nothing) {
      vertex = static_cast<std::uint32_t>(part_of_vertex.size());
      part_of_vertex.push_back(index(core_of[at]) / floor.cores);
    }
    coarse_of[at] = vertex;
  }
  const auto count = static_cast<std::uint32_t>(part_of_vertex.size());
  const WeightedGraph contents = contracted(graph, coarse_of, count).with_unit_sizes();
  const std::vector<std::uint64_t> room(parts / floor.beside, floor.beside);
  std::vector<std::uint32_t> above(count);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) above[vertex] = part_of_vertex[vertex] / floor.beside;
  const std::vector<std::uint32_t> before = above;
  improve_grouping(contents, distance, floor.cores * floor.beside, floor.cores, room, above, passes);

  // Whoever stayed keeps its place; the others take those that were left.
  std::vector<std::uint8_t> taken(parts, 0);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) {
    if (above[vertex] == before[vertex]) taken[part_of_vertex[vertex]] = 1;
  }
  std::vector<std::uint32_t> next(parts / floor.beside, 0);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) {
    if (above[vertex] == before[vertex]) continue;
    std::uint32_t& beside = next[above[vertex]];
    while (taken[above[vertex] * floor.beside + beside] != 0) ++beside;
    part_of_vertex[vertex] = above[vertex] * floor.beside + beside;
    taken[part_of_vertex[vertex]] = 1;
  }
  for (std::size_t at = 0; at < core_of.size(); ++at) {
    core_of[at] = Core{part_of_vertex[coarse_of[at]] * floor.cores + index(core_of[at]) % floor.cores};
  }
}

}  // namespace

void exchange_objects(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                      std::span<Core> core_of, std::uint32_t passes) {
  const MachineTree::Part root = tree.root();
  if (!tree.symmetric(root)) return;
  const auto arities = tree.arities(root);
  std::uint32_t cores = 1;
  // The uppermost parts have nobody but each other beside them.
  for (std::size_t level = arities.size(); level-- > 2;) {
    cores *= arities[level];
    exchange_on({cores, arities[level - 1]}, graph, distance, core_of, root.core_count() / cores, passes);
  }
}

}  // namespace rankloom::multilevel
