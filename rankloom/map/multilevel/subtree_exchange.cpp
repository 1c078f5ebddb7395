// SPDX-License-Identifier: Apache-2.0
// map/multilevel: exchanges of whole parts of the machine, by k-way FM over contracted parts.
#include "rankloom/map/multilevel/subtree_exchange.hpp"

#include <limits>
#include <vector>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/contraction.hpp"
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

namespace rankloom::multilevel {
namespace {

/// The parts of one level of the machine.
struct Level {
  std::uint32_t cores_per_part;
  std::uint32_t parts_per_parent;
  std::uint32_t part_count;
};

void exchange_on(const Level& level, const WeightedGraph& graph, const Distance& distance, std::span<Core> core_of,
                 std::uint32_t passes) {
  constexpr std::uint32_t empty = std::numeric_limits<std::uint32_t>::max();
  // One vertex per part that is not empty.
  std::vector<std::uint32_t> vertex_of_part(level.part_count, empty);
  std::vector<std::uint32_t> part_of_vertex;
  std::vector<std::uint32_t> coarse_of(core_of.size());
  for (std::size_t at = 0; at < core_of.size(); ++at) {
    std::uint32_t& vertex = vertex_of_part[index(core_of[at]) / level.cores_per_part];
    if (vertex == empty) {
      vertex = static_cast<std::uint32_t>(part_of_vertex.size());
      part_of_vertex.push_back(index(core_of[at]) / level.cores_per_part);
    }
    coarse_of[at] = vertex;
  }
  const auto count = static_cast<std::uint32_t>(part_of_vertex.size());
  const WeightedGraph parts = contract(graph, coarse_of, count).with_unit_vertex_weights();
  const std::uint32_t parents = level.part_count / level.parts_per_parent;
  const std::vector<std::uint64_t> max_block_weight(parents, level.parts_per_parent);
  std::vector<std::uint32_t> parent_of(count);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) {
    parent_of[vertex] = part_of_vertex[vertex] / level.parts_per_parent;
  }
  const std::vector<std::uint32_t> parent_before = parent_of;
  fm_kway_grouping(parts, distance, level.cores_per_part * level.parts_per_parent, level.cores_per_part,
                   max_block_weight, parent_of, passes);

  // Vertices with the same parent as before keep their part; the others take the parts that became free.
  std::vector<std::uint8_t> taken(level.part_count, 0);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) {
    if (parent_of[vertex] == parent_before[vertex]) taken[part_of_vertex[vertex]] = 1;
  }
  std::vector<std::uint32_t> next_child(parents, 0);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) {
    if (parent_of[vertex] == parent_before[vertex]) continue;
    std::uint32_t& child = next_child[parent_of[vertex]];
    while (taken[parent_of[vertex] * level.parts_per_parent + child] != 0) ++child;
    part_of_vertex[vertex] = parent_of[vertex] * level.parts_per_parent + child;
    taken[part_of_vertex[vertex]] = 1;
  }
  for (std::size_t at = 0; at < core_of.size(); ++at) {
    const std::uint32_t core_in_part = index(core_of[at]) % level.cores_per_part;
    core_of[at] = Core{part_of_vertex[coarse_of[at]] * level.cores_per_part + core_in_part};
  }
}

}  // namespace

void exchange_subtrees(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                       std::span<Core> core_of, std::uint32_t passes) {
  const TimedSection timing("subtree exchange");
  const MachineTree::Part root = tree.root();
  if (!tree.symmetric(root)) return;
  const auto arities = tree.arities(root);
  std::uint32_t cores = 1;
  // The parts of the uppermost level have a single parent, so an exchange among them changes nothing.
  for (std::size_t depth = arities.size(); depth-- > 2;) {
    cores *= arities[depth];
    exchange_on({cores, arities[depth - 1], root.core_count() / cores}, graph, distance, core_of, passes);
  }
}

}  // namespace rankloom::multilevel
