// SPDX-License-Identifier: Apache-2.0
// map/multilevel: from a problem to a placement.
#include "rankloom/map/multilevel/multilevel.hpp"

#include "rankloom/map/multilevel/refinement/fm_kway.hpp"
#include "rankloom/map/multilevel/subtree_exchange.hpp"
#include "rankloom/map/repair.hpp"

namespace rankloom::multilevel {
namespace {

/// Whether cores are shared and some slots stay free.
bool has_shared_cores_and_free_slots(const MapProblem& problem) {
  return problem.capacities.total() > problem.graph.rank_count() &&
         problem.graph.rank_count() > problem.topology.core_count();
}

bool fits(const MapProblem& problem, std::span<const Core> core_of) {
  std::vector<std::uint32_t> ranks_on(problem.topology.core_count(), 0);
  for (const Core core : core_of) {
    if (++ranks_on[index(core)] > problem.capacities[core]) return false;
  }
  return true;
}

/// Congestion is not a sum over pairs of ranks. Minimising bytes x distance keeps the load of shared links low as well.
Distance distance_of(const MapProblem& problem) {
  return make_distance(problem.topology, problem.model == CostModel::congestion ? CostModel::bytes : problem.model);
}

void refine_on_cores(const MapProblem& problem, const WeightedGraph& graph, std::span<Core> core_of,
                     std::uint32_t passes) {
  if (!has_shared_cores_and_free_slots(problem) || passes == 0) return;
  std::vector<std::uint64_t> max_block_weight(problem.topology.core_count());
  for (const Core core : problem.topology.cores()) max_block_weight[index(core)] = problem.capacities[core];
  std::vector<std::uint32_t> block_of(core_of.size());
  for (std::size_t vertex = 0; vertex < core_of.size(); ++vertex) block_of[vertex] = index(core_of[vertex]);
  fm_kway_mapping(graph, distance_of(problem), max_block_weight, block_of, passes);
  for (std::size_t vertex = 0; vertex < core_of.size(); ++vertex) core_of[vertex] = Core{block_of[vertex]};
}

}  // namespace

VertexGraph::VertexGraph(const MapProblem& problem, std::span<const std::uint32_t> rank_weights)
    : ordered_(ordered_graph(problem, rank_weights)) {}

std::vector<Core> VertexGraph::by_rank(std::span<const Core> by_vertex) const {
  if (ordered_.order.empty()) return {by_vertex.begin(), by_vertex.end()};
  std::vector<Core> core_of(by_vertex.size());
  for (std::size_t vertex = 0; vertex < ordered_.order.size(); ++vertex)
    core_of[ordered_.order[vertex]] = by_vertex[vertex];
  return core_of;
}

Array<Core> VertexGraph::by_vertex(std::span<const Core> by_rank) const {
  if (ordered_.order.empty()) return {by_rank.begin(), by_rank.end()};
  Array<Core> core_of(by_rank.size());
  for (std::size_t vertex = 0; vertex < ordered_.order.size(); ++vertex)
    core_of[vertex] = by_rank[ordered_.order[vertex]];
  return core_of;
}

std::vector<Core> refine_placement(const MapProblem& problem, const VertexGraph& vertices,
                                   std::span<const Core> core_of, std::uint32_t passes) {
  Array<Core> refined = vertices.by_vertex(core_of);
  refine_on_cores(problem, vertices.graph(), refined, passes);
  return vertices.by_rank(refined);
}

std::vector<Core> multilevel_placement(const MapProblem& problem, const VertexGraph& vertices, const Options& options,
                                       std::uint64_t seed) {
  const MachineTree tree(problem.topology, problem.capacities);
  const Distance distance = distance_of(problem);
  Array<Core> by_vertex = multisection(vertices.graph(), tree, distance, options.multisection, seed);
  const PartitionOptions& partition = options.multisection.partition;
  const bool in_time = !partition.deadline.passed();
  if (in_time && problem.graph.rank_count() <= problem.topology.core_count()) {
    exchange_subtrees(vertices.graph(), tree, distance, by_vertex, partition.fm_passes);
  }
  if (in_time) refine_on_cores(problem, vertices.graph(), by_vertex, options.mapping_fm_passes);
  std::vector<Core> core_of = vertices.by_rank(by_vertex);
  if (!fits(problem, core_of)) core_of = repair_placement(problem, Affinity(problem.graph), std::move(core_of));
  return core_of;
}

}  // namespace rankloom::multilevel
