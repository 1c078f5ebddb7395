// SPDX-License-Identifier: Apache-2.0
// map/bound: combines the bounds that apply to a problem.
#include "rankloom/map/bound/lower_bound.hpp"

#include <algorithm>
#include <span>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/bound/degree_capacity_bound.hpp"
#include "rankloom/map/bound/distance_shells.hpp"
#include "rankloom/map/bound/flow_bound.hpp"
#include "rankloom/map/bound/gilmore_lawler.hpp"

namespace rankloom {
namespace {

/// Directed traffic with more edges is not made symmetric; each direction is then bounded separately.
constexpr EdgeIndex max_symmetrised_edges = 50'000'000;
/// Edges x sweeps x shells of the matching bound.
constexpr std::uint64_t max_matching_work = 4'000'000;
constexpr std::uint64_t max_sweeps = 12;
/// Edges that the flow bound of one shell may visit, about 20 ns each: proportional to the edges of the graph, within
/// these limits.
constexpr std::uint64_t min_flow_work = 2'000'000, flow_work_per_edge = 150, max_flow_work = 20'000'000;

struct Totals {
  double bytes = 0, messages = 0;            // between different ranks
  double self_bytes = 0, self_messages = 0;  // traffic of ranks with themselves
  std::uint64_t max_partners = 0;
  Totals& operator+=(const Totals& other) {
    bytes += other.bytes;
    messages += other.messages;
    self_bytes += other.self_bytes;
    self_messages += other.self_messages;
    max_partners = std::max(max_partners, other.max_partners);
    return *this;
  }
};

Totals totals_of(const CommGraph& graph) {
  return parallel_sum<Totals>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
    Totals sum;
    for (std::size_t at = begin; at < end; ++at) {
      const Rank rank{static_cast<std::uint32_t>(at)};
      for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
        const double messages = graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages();
        const bool self = graph.targets(rank)[edge] == rank;
        (self ? sum.self_bytes : sum.bytes) += graph.bytes(rank)[edge];
        (self ? sum.self_messages : sum.messages) += messages;
      }
      sum.max_partners = std::max<std::uint64_t>(sum.max_partners, graph.degree(rank));
    }
    return sum;
  });
}

double cost_of(double bytes, double messages, PairCost cost) {
  return bytes * cost.per_byte + messages * cost.per_message;
}

/// Bounds each shell separately by the tightest bound that the time allows.
double bound_each_shell(const CommGraph& graph, const std::vector<DistanceShell>& shells, const Totals& totals) {
  std::vector<DistanceShell> relevant;
  for (const DistanceShell& shell : shells) {
    const bool costs = shell.step.per_byte > 0 || shell.step.per_message > 0;
    if (costs && (shell.is_object || shell.slots <= totals.max_partners)) relevant.push_back(shell);
  }
  const std::uint64_t work = std::max<std::uint64_t>(1, graph.edge_count() * relevant.size());
  const std::uint64_t sweeps = std::min(max_sweeps, max_matching_work / work);
  if (sweeps == 0) return degree_capacity_bound(graph, shells);
  const std::uint64_t flow_work = std::clamp(flow_work_per_edge * graph.edge_count(), min_flow_work, max_flow_work);
  const auto bound_shells = [&](std::size_t begin, std::size_t end) {
    double cost = 0;
    for (const DistanceShell& shell : std::span(relevant).subspan(begin, end - begin)) {
      const double by_matching = shell.slots <= totals.max_partners ? matching_bound(graph, shell, sweeps) : 0;
      const double by_flows = shell.is_object ? flow_bound(graph, shell, flow_work) : 0;
      cost += std::max(by_matching, by_flows);
    }
    return cost;
  };
  return parallel_sum<double>(relevant.size(), bound_shells, 1);
}

double distance_shell_bound(const MapProblem& problem) {
  const CommGraph* graph = &problem.graph;
  const Totals totals = totals_of(*graph);
  CommGraph symmetric;
  std::uint64_t max_partners = totals.max_partners;
  if (!graph->undirected() && graph->edge_count() <= max_symmetrised_edges) {
    symmetric = symmetrise_traffic(*graph);
    graph = &symmetric;
    for (const Rank rank : symmetric.ranks()) {
      max_partners = std::max<std::uint64_t>(max_partners, symmetric.degree(rank));
    }
  }
  const DistanceShells machine = distance_shells(problem, max_partners);
  double bound = cost_of(totals.bytes, totals.messages, machine.nearest);
  if (problem.model != CostModel::quality) bound += cost_of(totals.self_bytes, totals.self_messages, machine.self);
  Totals symmetric_totals = totals;
  symmetric_totals.max_partners = max_partners;
  return bound + (graph->undirected() ? bound_each_shell(*graph, machine.shells, symmetric_totals)
                                      : degree_capacity_bound(*graph, machine.shells));
}

}  // namespace

std::optional<double> lower_bound(const MapProblem& problem) {
  const TimedSection timing("lower bound");
  if (pairwise_model(problem.model) != problem.model || problem.graph.rank_count() == 0) return std::nullopt;
  if (problem.capacities.mixed_shapes() != nullptr) return std::nullopt;
  double bound = distance_shell_bound(problem);
  if (fits_gilmore_lawler(problem)) bound = std::max(bound, gilmore_lawler_bound(problem));
  return bound;
}

}  // namespace rankloom
