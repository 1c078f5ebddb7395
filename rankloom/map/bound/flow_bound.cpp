// SPDX-License-Identifier: Apache-2.0
// map/bound: the dual of spreading metrics, by shortest paths in rounds.
#include "rankloom/map/bound/flow_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// In each round every source sends a fraction of its possible flow, so that later rounds can avoid full pairs.
constexpr std::uint64_t max_rounds = 12;
/// A pair with a smaller fraction of its capacity left is full.
constexpr double full_fraction = 1e-9;

/// The capacity of each pair of ranks: the cost of its traffic, and how much of it no flow uses yet.
struct PairCapacities {
  std::vector<std::uint32_t> pair_of;  // by edge; both directions of an edge are one pair
  std::vector<double> total, left;     // by pair

  PairCapacities(const CommGraph& graph, PairCost step) : pair_of(graph.edge_count()) {
    const CommGraph::Rows& rows = graph.rows();
    std::vector<EdgeIndex> next_edge(rows.offsets.begin(), rows.offsets.end() - 1);
    for (const Rank rank : graph.ranks()) {
      for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
        const Rank target = rows.targets[edge];
        if (target < rank) continue;
        const double messages = rows.messages.empty() ? graph.default_messages() : rows.messages[edge];
        pair_of[edge] = static_cast<std::uint32_t>(total.size());
        // Ranks and the targets of a row are in ascending order, so the reverse edge is the next edge of the target's
        // row.
        if (target != rank) pair_of[next_edge[index(target)]++] = pair_of[edge];
        total.push_back(target == rank ? 0 : 2 * (rows.bytes[edge] * step.per_byte + messages * step.per_message));
      }
    }
    left = total;
  }
  double length(std::uint32_t pair) const {
    return left[pair] > full_fraction * total[pair] ? 1 / left[pair] : infinite;
  }
};

/// One unit of flow from a source to each of the ranks closest to it.
struct FlowBundle {
  struct Load {
    std::uint32_t pair;
    double units;
  };
  std::vector<Load> loads;
  double bound_per_unit = 0;  // the bound that the bundle proves if it is sent once
};

/// Dijkstra's algorithm from one source. Stops at the set of ranks with the best ratio of bound to path length.
class ShortestPathSearch {
 public:
  explicit ShortestPathSearch(const CommGraph& graph)
      : graph_(graph), distance_(graph.rank_count(), infinite), predecessor_(graph.rank_count()) {}

  FlowBundle bundle(Rank source, const PairCapacities& capacities, std::uint64_t slots) {
    const CommGraph::Rows& rows = graph_.rows();
    order_.clear();
    touched_.assign(1, source);
    distance_[source] = 0;
    Queue queue;
    queue.push({0, source});
    double lengths = 0, ratio = infinite;
    while (!queue.empty()) {
      const auto [distance, rank] = queue.top();
      queue.pop();
      if (distance > distance_[rank]) continue;
      if (distance >= ratio) break;
      order_.push_back(rank);
      lengths += distance;
      if (order_.size() > slots) ratio = lengths / static_cast<double>(order_.size() - slots);
      for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
        const Rank target = rows.targets[edge];
        const double new_distance = distance + capacities.length(capacities.pair_of[edge]);
        if (!(new_distance < distance_[target])) continue;
        if (distance_[target] == infinite) touched_.push_back(target);
        distance_[target] = new_distance;
        predecessor_[target] = {rank, capacities.pair_of[edge]};
        queue.push({new_distance, target});
      }
    }
    FlowBundle result;
    if (order_.size() > slots) {
      result.bound_per_unit = static_cast<double>(order_.size() - slots);
      units_.resize(graph_.rank_count());
      for (const Rank rank : order_) units_[rank] = 1;
      for (std::size_t at = order_.size(); at-- > 1;) {
        const Predecessor predecessor = predecessor_[order_[at]];
        result.loads.push_back({predecessor.pair, units_[order_[at]]});
        units_[predecessor.from] += units_[order_[at]];
      }
    }
    for (const Rank rank : touched_) distance_[rank] = infinite;
    return result;
  }

 private:
  struct Predecessor {
    Rank from;
    std::uint32_t pair;
  };
  struct Entry {
    double distance;
    Rank rank;
    bool operator<(const Entry& other) const {
      return distance != other.distance ? distance > other.distance : rank > other.rank;
    }
  };
  using Queue = std::priority_queue<Entry>;

  const CommGraph& graph_;
  IdVector<Rank, double> distance_;
  IdVector<Rank, Predecessor> predecessor_;
  IdVector<Rank, double> units_;
  std::vector<Rank> order_, touched_;  // order_: in the order of their distance, the source first
};

/// Ranks spread over the graph, one for each `group_size` ranks that are close to each other.
std::vector<Rank> spread_sources(const CommGraph& graph, std::uint64_t group_size) {
  std::vector<Rank> sources, group;
  IdVector<Rank, bool> taken(graph.rank_count(), false);
  for (const Rank rank : graph.ranks()) {
    if (taken[rank]) continue;
    sources.push_back(rank);
    taken[rank] = true;
    group.assign(1, rank);
    for (std::size_t at = 0; at < group.size() && group.size() < group_size; ++at) {
      for (const Rank target : graph.targets(group[at])) {
        if (taken[target] || group.size() >= group_size) continue;
        taken[target] = true;
        group.push_back(target);
      }
    }
  }
  return sources;
}

/// Sends every bundle as often as the capacities allow if all are sent, times `fraction`. Returns the bound that this
/// proves.
double send(const std::vector<FlowBundle>& bundles, double fraction, PairCapacities& capacities) {
  std::vector<double> alone(bundles.size(), 0.0);  // how often each bundle could be sent without the others
  std::vector<double> demand(capacities.left.size(), 0.0);
  for (std::size_t at = 0; at < bundles.size(); ++at) {
    if (bundles[at].loads.empty()) continue;
    double times = infinite;
    for (const auto& [pair, units] : bundles[at].loads) times = std::min(times, capacities.left[pair] / units);
    alone[at] = times;
    for (const auto& [pair, units] : bundles[at].loads) demand[pair] += times * units;
  }
  double bound = 0;
  std::vector<double> used(capacities.left.size(), 0.0);
  for (std::size_t at = 0; at < bundles.size(); ++at) {
    if (bundles[at].loads.empty()) continue;
    double congestion = 0;
    for (const auto& [pair, units] : bundles[at].loads) {
      congestion = std::max(congestion, demand[pair] / capacities.left[pair]);
    }
    const double times = fraction * alone[at] / std::max(1.0, congestion);
    bound += times * bundles[at].bound_per_unit;
    for (const auto& [pair, units] : bundles[at].loads) used[pair] += times * units;
  }
  for (std::size_t pair = 0; pair < used.size(); ++pair) {
    capacities.left[pair] = std::max(0.0, capacities.left[pair] - used[pair]);
  }
  return bound;
}

}  // namespace

double flow_bound(const CommGraph& graph, const DistanceShell& shell, std::uint64_t max_work) {
  const std::uint64_t ranks = graph.rank_count();
  if (shell.slots >= ranks || shell.slots == 0) return 0;
  // Close to its source, a flow uses much of the capacity of a few pairs: the larger the shell, the fewer sources are
  // needed.
  const auto group_size = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(shell.slots)) / 2);
  const std::uint64_t reached = std::min(ranks, 3 * shell.slots);
  const std::uint64_t degree = std::max<std::uint64_t>(1, graph.edge_count() / ranks);
  const std::uint64_t work_per_round = ranks / std::max<std::uint64_t>(1, group_size) * reached * degree;
  const std::uint64_t rounds = std::min(max_rounds, max_work / std::max<std::uint64_t>(1, work_per_round));
  if (rounds == 0) return 0;

  const auto sources = spread_sources(graph, std::max<std::uint64_t>(1, group_size));
  PairCapacities capacities(graph, shell.step);
  oneapi::tbb::enumerable_thread_specific<ShortestPathSearch> searches([&] { return ShortestPathSearch(graph); });
  std::vector<FlowBundle> bundles(sources.size());
  double bound = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    parallel_chunks(sources.size(), 8, [&](std::size_t begin, std::size_t end) {
      ShortestPathSearch& search = searches.local();
      for (std::size_t at = begin; at < end; ++at) {
        bundles[at] = search.bundle(sources[at], capacities, shell.slots);
      }
    });
    bound += send(bundles, 1.0 / static_cast<double>(rounds - round), capacities);
  }
  return bound;
}

}  // namespace rankloom
