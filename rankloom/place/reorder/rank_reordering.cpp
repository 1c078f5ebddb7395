// SPDX-License-Identifier: Apache-2.0
// place/reorder: maps vertices onto the slots of the processes and assigns the processes of each slot to its vertices.
#include "rankloom/place/reorder/rank_reordering.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom::reorder {

namespace {

/// Time limit of the mapper. The program waits for the result.
constexpr std::chrono::milliseconds budget{2000};
/// Larger topologies are mapped with effort=fast, because the program waits for the result.
constexpr std::uint32_t max_vertices_with_full_effort = 1024;

PlacementCost compute_cost(const CommGraph& graph, const Topology& topology, const std::vector<Core>& core_of) {
  PlacementCost result{.cost = evaluate(graph, topology, core_of, CostModel::bytes), .between_hosts = 0};
  for (const Rank from : graph.ranks()) {
    const auto targets = graph.targets(from);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (topology.node_of(core_of[index(from)]) != topology.node_of(core_of[index(targets[edge])]))
        result.between_hosts += graph.bytes(from)[edge];
    }
  }
  return result;
}

/// Assigns a process on the core of each vertex to that vertex. A process keeps its rank if possible. Processes without
/// a vertex get the last ranks in their order.
std::vector<std::int32_t> assign_ranks(const std::vector<Core>& vertex_at, const std::vector<Core>& process_at) {
  constexpr std::int32_t none = -1;
  const std::size_t processes = process_at.size(), vertices = vertex_at.size();
  std::vector<std::int32_t> rank(processes, none);
  std::vector<std::uint32_t> unassigned;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    if (vertex_at[vertex] == process_at[vertex]) {
      rank[vertex] = static_cast<std::int32_t>(vertex);
    } else {
      unassigned.push_back(vertex);
    }
  }
  std::vector<std::uint32_t> free_processes;
  for (std::uint32_t process = 0; process < processes; ++process) {
    if (rank[process] == none) free_processes.push_back(process);
  }
  std::stable_sort(unassigned.begin(), unassigned.end(), [&](auto a, auto b) { return vertex_at[a] < vertex_at[b]; });
  std::stable_sort(free_processes.begin(), free_processes.end(),
                   [&](auto a, auto b) { return process_at[a] < process_at[b]; });
  std::size_t next = 0;
  for (const std::uint32_t vertex : unassigned) {
    while (process_at[free_processes[next]] != vertex_at[vertex])
      ++next;  // exists, because the mapping respects the capacities
    rank[free_processes[next++]] = static_cast<std::int32_t>(vertex);
  }
  auto next_without_vertex = static_cast<std::int32_t>(vertices);
  for (std::int32_t& new_rank : rank) {
    if (new_rank == none) new_rank = next_without_vertex++;
  }
  return rank;
}

}  // namespace

Result<Reordering> compute_reordering(const ReorderProblem& problem) {
  const auto vertices = problem.graph.rank_count();
  if (vertices > problem.bindings.size()) {
    return fail(Code::infeasible, at("virtual topology"),
                fmt::format("it has {} vertices, but there are {} processes", vertices, problem.bindings.size()),
                "start at least one process per vertex");
  }
  auto machine = build_slot_machine(problem.bindings, problem.machine, problem.interiors);
  if (!machine) return propagate(machine);
  const std::vector<Core> start(machine->core_of.begin(), machine->core_of.begin() + vertices);
  Reordering reordering;
  reordering.new_rank.resize(problem.bindings.size());
  std::iota(reordering.new_rank.begin(), reordering.new_rank.end(), 0);
  reordering.before = reordering.after = compute_cost(problem.graph, machine->topology, start);
  if (reordering.before.cost <= 0) return reordering;

  auto capacities = Capacities::of(machine->topology, vertices, {});
  if (!capacities) return propagate(capacities);
  auto mapper = make_mapper(vertices <= max_vertices_with_full_effort ? "auto" : "auto:effort=fast");
  if (!mapper) return propagate(mapper);
  const MapProblem map_problem{.graph = problem.graph,
                               .topology = machine->topology,
                               .capacities = *capacities,
                               .model = CostModel::bytes,
                               .start = start,
                               .migration_cost = 0};
  auto result = run_mapper(*mapper, map_problem, {.seed = 0, .deadline = Deadline::in(budget)});
  if (!result) return propagate(result);
  const std::vector<Core> core_of(result->mapping.cores().begin(), result->mapping.cores().end());
  const PlacementCost after = compute_cost(problem.graph, machine->topology, core_of);
  constexpr double rounding_error = 1e-9;
  if (after.cost >= reordering.before.cost * (1 - rounding_error)) return reordering;
  reordering.new_rank = assign_ranks(core_of, machine->core_of);
  reordering.changed = true;
  reordering.after = after;
  return reordering;
}

CommGraph grid_graph(const std::vector<std::int32_t>& dims, const std::vector<std::int32_t>& periods) {
  std::uint32_t size = 1;
  for (const std::int32_t dim : dims) size *= static_cast<std::uint32_t>(dim);
  CommGraphBuilder edges(size);
  edges.reserve(std::size_t{size} * 2 * dims.size());
  std::uint32_t stride = 1;
  for (std::size_t at = dims.size(); at-- > 0; stride *= static_cast<std::uint32_t>(dims[at])) {
    const auto extent = static_cast<std::uint32_t>(dims[at]);
    if (extent == 1) continue;
    for (std::uint32_t vertex = 0; vertex < size; ++vertex) {
      const std::uint32_t coordinate = vertex / stride % extent;
      if (coordinate + 1 == extent && periods[at] == 0) continue;
      const std::uint32_t next = coordinate + 1 < extent ? vertex + stride : vertex - coordinate * stride;
      edges.add(Rank{vertex}, Rank{next}, 1);
      edges.add(Rank{next}, Rank{vertex}, 1);
    }
  }
  return std::move(edges).build(false);
}

}  // namespace rankloom::reorder
