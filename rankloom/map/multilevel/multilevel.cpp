// SPDX-License-Identifier: Apache-2.0
// map/multilevel: from a problem to a placement.
#include "rankloom/map/multilevel/multilevel.hpp"

#include <numeric>

#include "rankloom/map/multilevel/locality.hpp"
#include "rankloom/map/multilevel/object_exchange.hpp"
#include "rankloom/map/multilevel/part_moves.hpp"
#include "rankloom/map/repair.hpp"

namespace rankloom::multilevel {
namespace {

/// Some cores have room for more than they hold, and hold several.
bool has_slack(const MapProblem& problem) {
  return problem.capacities.total() > problem.graph.rank_count() &&
         problem.graph.rank_count() > problem.topology.core_count();
}

bool fits(const MapProblem& problem, std::span<const Core> core_of) {
  std::vector<std::uint32_t> held(problem.topology.core_count(), 0);
  for (const Core core : core_of) {
    if (++held[index(core)] > problem.capacities[core]) return false;
  }
  return true;
}

}  // namespace

Program::Program(const MapProblem& problem, std::span<const std::uint32_t> sizes)
    : graph_(weighted_graph(problem, sizes)), order_(local_order(graph_)) {
  if (!order_.empty()) graph_ = reordered(graph_, order_);
}

std::vector<Core> Program::by_rank(std::vector<Core> by_vertex) const {
  if (order_.empty()) return by_vertex;
  std::vector<Core> core_of(by_vertex.size());
  for (std::size_t vertex = 0; vertex < order_.size(); ++vertex) core_of[order_[vertex]] = by_vertex[vertex];
  return core_of;
}

std::vector<Core> Program::by_vertex(std::vector<Core> by_rank) const {
  if (order_.empty()) return by_rank;
  std::vector<Core> core_of(by_rank.size());
  for (std::size_t vertex = 0; vertex < order_.size(); ++vertex) core_of[vertex] = by_rank[order_[vertex]];
  return core_of;
}

namespace {

/// Congestion is no sum over pairs; what travels short ways meets little.
Distance distance_of(const MapProblem& problem) {
  return make_distance(problem.topology, problem.model == CostModel::congestion ? CostModel::bytes : problem.model);
}

void move_vertices(const MapProblem& problem, const WeightedGraph& graph, std::span<Core> core_of,
                   std::uint32_t passes) {
  if (!has_slack(problem) || passes == 0) return;
  std::vector<std::uint64_t> room(problem.topology.core_count());
  for (const Core core : problem.topology.cores()) room[index(core)] = problem.capacities[core];
  std::vector<std::uint32_t> part_of(core_of.size());
  for (std::size_t vertex = 0; vertex < core_of.size(); ++vertex) part_of[vertex] = index(core_of[vertex]);
  improve_mapping(graph, distance_of(problem), room, part_of, passes);
  for (std::size_t vertex = 0; vertex < core_of.size(); ++vertex) core_of[vertex] = Core{part_of[vertex]};
}

}  // namespace

std::vector<Core> moved(const MapProblem& problem, const Program& program, std::vector<Core> core_of,
                        std::uint32_t passes) {
  core_of = program.by_vertex(std::move(core_of));
  move_vertices(problem, program.graph(), core_of, passes);
  return program.by_rank(std::move(core_of));
}

std::vector<Core> placement(const MapProblem& problem, const Program& program, const Effort& effort,
                            std::uint64_t seed) {
  const MachineTree tree(problem.topology, problem.capacities);
  const Distance distance = distance_of(problem);
  auto core_of = multisected(program.graph(), tree, distance, effort.cutting, seed);
  const bool in_time = !effort.cutting.division.deadline.passed();
  if (in_time && problem.graph.rank_count() <= problem.topology.core_count()) {
    exchange_objects(program.graph(), tree, distance, core_of, effort.cutting.division.passes);
  }
  if (in_time) move_vertices(problem, program.graph(), core_of, effort.passes);
  core_of = program.by_rank(std::move(core_of));
  if (!fits(problem, core_of)) core_of = repaired(problem, Affinity(problem.graph), std::move(core_of));
  return core_of;
}

}  // namespace rankloom::multilevel
