// SPDX-License-Identifier: Apache-2.0
// model/graph: the traffic of a profile, with its phases and the collectives that depend on nodes.
#include "rankloom/model/graph/traffic_parts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "rankloom/model/graph/exchange_rounds.hpp"

namespace rankloom {

namespace {

/// A phase costs a search as much time as a graph without phases.
constexpr std::size_t max_phases = 8;
/// Windows with at least this share of equal traffic belong to one phase.
constexpr double similar = 0.8;

double total_weight(const CommGraph& graph) {
  return graph.total_bytes() + graph.total_messages();
}

/// The share of the traffic that two graphs have in common, if each is divided by its total: 0 to 1. The predicted time
/// of proportional graphs is that of their sum.
double similarity(const CommGraph& a, const CommGraph& b) {
  const double all_a = total_weight(a), all_b = total_weight(b);
  if (all_a == 0 || all_b == 0) return all_a == all_b ? 1 : 0;
  double common = 0;
  for (const Rank rank : a.ranks()) {
    const auto in_a = a.targets(rank), in_b = b.targets(rank);
    for (std::size_t at = 0, other = 0; at < in_a.size(); ++at) {
      while (other < in_b.size() && in_b[other] < in_a[at]) ++other;
      if (other == in_b.size() || in_b[other] != in_a[at]) continue;
      common += std::min((a.bytes(rank)[at] + a.messages(rank, at)) / all_a,
                         (b.bytes(rank)[other] + b.messages(rank, other)) / all_b);
    }
  }
  return common;
}

/// 0 if there are only collectives, only messages, or too many pairs for a prediction that needs it.
double rounds_without_collectives(const Profile& profile) {
  constexpr EdgeIndex max_pairs = 1'000'000;
  const CommGraph& graph = profile.point_to_point;
  const bool has_collectives = !profile.collectives.empty() || profile.expanded_collectives.rank_count() > 0;
  if (!has_collectives || graph.edge_count() == 0 || graph.edge_count() > max_pairs) return 0;
  return estimate_rounds(graph);
}

CommGraph pairs(Profile profile, CollectiveModel model, NodeCount nodes) {
  NodeCollectives node_collectives;
  if (nodes == NodeCount::several) node_collectives = take_node_collectives(profile, model);
  const double rounds = rounds_without_collectives(profile);
  CommGraph graph = expand_collectives(std::move(profile), model);
  if (!node_collectives.calls.empty() || rounds > 0) {
    graph.set_parts(std::make_shared<TrafficParts>(
        TrafficParts{.phases = {}, .node_collectives = std::move(node_collectives), .rounds = rounds}));
  }
  return graph;
}

Profile without_traffic(const Profile& profile) {
  Profile part;
  part.point_to_point = CommGraphBuilder(profile.rank_count()).build(true);
  part.self_traffic_counts = profile.self_traffic_counts;
  part.communicators = profile.communicators;
  return part;
}

void add(const Phase& phase, Profile& part) {
  part.point_to_point = sum(part.point_to_point, phase.point_to_point);
  if (phase.expanded_collectives.rank_count() > 0) {
    part.expanded_collectives = part.expanded_collectives.rank_count() > 0
                                    ? sum(part.expanded_collectives, phase.expanded_collectives)
                                    : phase.expanded_collectives;
  }
  part.collectives.insert(part.collectives.end(), phase.collectives.begin(), phase.collectives.end());
}

/// The phases and windows of a profile, those with similar traffic together: each joins the most similar kind, or is
/// the first of a new one.
std::vector<CommGraph> distinct_phases(const Profile& profile, CollectiveModel model, NodeCount nodes) {
  struct Kind {
    CommGraph first;
    Profile all;
  };
  std::vector<Kind> kinds;
  for (const Phase& phase : profile.phases) {
    Profile part = without_traffic(profile);
    add(phase, part);
    CommGraph graph = pairs(part, model, nodes);
    if (graph.edge_count() == 0 && graph.parts() == nullptr) continue;
    Kind* closest = nullptr;
    double highest = -1;
    for (Kind& kind : kinds) {
      const double share = similarity(kind.first, graph);
      if (share <= highest) continue;
      highest = share;
      closest = &kind;
    }
    if (highest >= similar || kinds.size() == max_phases) {
      add(phase, closest->all);
    } else {
      kinds.push_back({std::move(graph), std::move(part)});
    }
  }
  std::vector<CommGraph> phases;
  phases.reserve(kinds.size());
  for (Kind& kind : kinds) phases.push_back(pairs(std::move(kind.all), model, nodes));
  return phases;
}

}  // namespace

CommGraph traffic(Profile profile, CollectiveModel model, NodeCount nodes) {
  model = collective_model(model, profile);
  std::vector<CommGraph> phases;
  if (profile.phases.size() > 1) phases = distinct_phases(profile, model, nodes);
  CommGraph graph = pairs(std::move(profile), model, nodes);
  if (phases.size() > 1) {
    TrafficParts parts;
    if (graph.parts() != nullptr) parts = *graph.parts();
    parts.phases = std::move(phases);
    graph.set_parts(std::make_shared<TrafficParts>(std::move(parts)));
  }
  return graph;
}

}  // namespace rankloom
