// SPDX-License-Identifier: Apache-2.0
// place/reorder: vertices onto seats, then seats back to processes.
#include "rankloom/place/reorder/plan.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom::reorder {

namespace {

/// The program waits meanwhile.
constexpr std::chrono::milliseconds budget{2000};
/// More than this many vertices are mapped with little effort: a thousandth of a second for a rank is much at start-up.
constexpr std::uint32_t most_with_effort = 1024;

Toll toll(const CommGraph& graph, const Topology& topology, const std::vector<Core>& core_of) {
  Toll toll{.cost = evaluate(graph, topology, core_of, CostModel::bytes), .between_hosts = 0};
  for (const Rank from : graph.ranks()) {
    const auto targets = graph.targets(from);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (topology.node_of(core_of[index(from)]) != topology.node_of(core_of[index(targets[edge])]))
        toll.between_hosts += graph.bytes(from)[edge];
    }
  }
  return toll;
}

/// Every vertex to a process on its seat. Who can keep his rank keeps it; those who play no vertex come last, in order.
std::vector<std::int32_t> ranks_of(const std::vector<Core>& vertex_at, const std::vector<Core>& process_at) {
  constexpr std::int32_t none = -1;
  const std::size_t processes = process_at.size(), vertices = vertex_at.size();
  std::vector<std::int32_t> rank(processes, none);
  std::vector<std::uint32_t> seeking;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    if (vertex_at[vertex] == process_at[vertex]) {
      rank[vertex] = static_cast<std::int32_t>(vertex);
    } else {
      seeking.push_back(vertex);
    }
  }
  std::vector<std::uint32_t> free;
  for (std::uint32_t process = 0; process < processes; ++process) {
    if (rank[process] == none) free.push_back(process);
  }
  std::stable_sort(seeking.begin(), seeking.end(), [&](auto a, auto b) { return vertex_at[a] < vertex_at[b]; });
  std::stable_sort(free.begin(), free.end(), [&](auto a, auto b) { return process_at[a] < process_at[b]; });
  std::size_t next = 0;
  for (const std::uint32_t vertex : seeking) {
    while (process_at[free[next]] != vertex_at[vertex]) ++next;  // the mapping fits the seats, so there is one
    rank[free[next++]] = static_cast<std::int32_t>(vertex);
  }
  auto left_out = static_cast<std::int32_t>(vertices);
  for (std::int32_t& mine : rank) {
    if (mine == none) mine = left_out++;
  }
  return rank;
}

}  // namespace

Result<Plan> make_plan(const Question& question) {
  const auto vertices = question.graph.rank_count();
  if (vertices > question.seats.size()) {
    return fail(Code::infeasible, at("virtual topology"),
                fmt::format("has {} vertices for {} processes", vertices, question.seats.size()),
                "start more processes");
  }
  auto machine = seat(question.seats, question.machine, question.interiors);
  if (!machine) return propagate(machine);
  const std::vector<Core> start(machine->core_of.begin(), machine->core_of.begin() + vertices);
  Plan plan;
  plan.new_rank.resize(question.seats.size());
  std::iota(plan.new_rank.begin(), plan.new_rank.end(), 0);
  plan.before = plan.after = toll(question.graph, machine->topology, start);
  if (plan.before.cost <= 0) return plan;

  auto slots = Capacities::of(machine->topology, vertices, {});
  if (!slots) return propagate(slots);
  auto mapper = make_mapper(vertices <= most_with_effort ? "auto" : "auto:effort=fast");
  if (!mapper) return propagate(mapper);
  const MapProblem problem{.graph = question.graph,
                           .topology = machine->topology,
                           .slots = *slots,
                           .model = CostModel::bytes,
                           .start = start,
                           .move_price = 0};
  auto result = run_mapper(*mapper, problem, {.seed = 0, .deadline = Deadline::in(budget)});
  if (!result) return propagate(result);
  const std::vector<Core> core_of(result->mapping.cores().begin(), result->mapping.cores().end());
  const Toll after = toll(question.graph, machine->topology, core_of);
  constexpr double rounding = 1e-9;
  if (after.cost >= plan.before.cost * (1 - rounding)) return plan;
  plan.new_rank = ranks_of(core_of, machine->core_of);
  plan.changed = true;
  plan.after = after;
  return plan;
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
      const std::uint32_t place = vertex / stride % extent;
      if (place + 1 == extent && periods[at] == 0) continue;
      const std::uint32_t next = place + 1 < extent ? vertex + stride : vertex - place * stride;
      edges.add(Rank{vertex}, Rank{next}, 1);
      edges.add(Rank{next}, Rank{vertex}, 1);
    }
  }
  return std::move(edges).build(false);
}

}  // namespace rankloom::reorder
