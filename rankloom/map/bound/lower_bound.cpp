// SPDX-License-Identifier: Apache-2.0
// map/bound: the certificate.
#include "rankloom/map/bound/lower_bound.hpp"

#include <algorithm>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/bound/flows.hpp"
#include "rankloom/map/bound/gilmore_lawler.hpp"
#include "rankloom/map/bound/leaving.hpp"
#include "rankloom/map/bound/partners.hpp"
#include "rankloom/map/bound/shells.hpp"

namespace rankloom {
namespace {

/// Directed traffic is put together by partners up to here; beyond, each direction is looked at for itself.
constexpr EdgeIndex most_copied_edges = 50'000'000;
/// Edges x sweeps x shells of the finer bound.
constexpr std::uint64_t most_finer_work = 4'000'000;
constexpr std::uint64_t most_sweeps = 12;
/// Edges that the flows of a shell look at, about 20 ns each: some for everybody, more for larger programs, up to a
/// limit.
constexpr std::uint64_t little_flow_work = 2'000'000, flow_work_per_edge = 150, most_flow_work = 20'000'000;

struct Totals {
  double bytes = 0, messages = 0;            // between different ranks
  double self_bytes = 0, self_messages = 0;  // of ranks with themselves
  std::uint64_t most_partners = 0;
  Totals& operator+=(const Totals& other) {
    bytes += other.bytes;
    messages += other.messages;
    self_bytes += other.self_bytes;
    self_messages += other.self_messages;
    most_partners = std::max(most_partners, other.most_partners);
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
      sum.most_partners = std::max<std::uint64_t>(sum.most_partners, graph.degree(rank));
    }
    return sum;
  });
}

double times(double bytes, double messages, PairCost cost) {
  return bytes * cost.per_byte + messages * cost.per_message;
}

/// The shells one by one, as well as there is time for.
double cost_beyond_each(const CommGraph& graph, const std::vector<Shell>& shells, const Totals& totals) {
  std::vector<Shell> crossed;
  for (const Shell& shell : shells) {
    const bool costs = shell.step.per_byte > 0 || shell.step.per_message > 0;
    if (costs && (shell.closed || shell.places <= totals.most_partners)) crossed.push_back(shell);
  }
  const std::uint64_t work = std::max<std::uint64_t>(1, graph.edge_count() * crossed.size());
  const std::uint64_t sweeps = std::min(most_sweeps, most_finer_work / work);
  if (sweeps == 0) return cost_beyond_shells(graph, shells);
  const std::uint64_t flow_work = std::clamp(flow_work_per_edge * graph.edge_count(), little_flow_work, most_flow_work);
  double cost = 0;
  for (const Shell& shell : crossed) {
    const double by_partners = shell.places <= totals.most_partners ? cost_beyond(graph, shell, sweeps) : 0;
    const double by_flows = shell.closed ? cost_by_flows(graph, shell, flow_work) : 0;
    cost += std::max(by_partners, by_flows);
  }
  return cost;
}

double shell_bound(const MapProblem& problem) {
  const CommGraph* graph = &problem.graph;
  const Totals totals = totals_of(*graph);
  CommGraph halved;
  std::uint64_t most_partners = totals.most_partners;
  if (!graph->undirected() && graph->edge_count() <= most_copied_edges) {
    halved = halved_between_partners(*graph);
    graph = &halved;
    for (const Rank rank : halved.ranks()) {
      most_partners = std::max<std::uint64_t>(most_partners, halved.degree(rank));
    }
  }
  const Shells machine = shells_of(problem, most_partners);
  double bound = times(totals.bytes, totals.messages, machine.nearest);
  if (problem.model != CostModel::quality) bound += times(totals.self_bytes, totals.self_messages, machine.self);
  Totals of_rows = totals;
  of_rows.most_partners = most_partners;
  return bound + (graph->undirected() ? cost_beyond_each(*graph, machine.shells, of_rows)
                                      : cost_beyond_shells(*graph, machine.shells));
}

}  // namespace

std::optional<double> lower_bound(const MapProblem& problem) {
  if (problem.model == CostModel::congestion || problem.graph.rank_count() == 0) return std::nullopt;
  double bound = shell_bound(problem);
  if (suits_gilmore_lawler(problem)) bound = std::max(bound, gilmore_lawler_bound(problem));
  return bound;
}

}  // namespace rankloom
