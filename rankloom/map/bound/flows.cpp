// SPDX-License-Identifier: Apache-2.0
// map/bound: flows that prove how much traffic must leave.
#include "rankloom/map/bound/flows.hpp"

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
/// In each round every source adds a part of what it could, so that later ones can go around what is full.
constexpr std::uint64_t most_rounds = 12;
/// A pair with less than this part of its traffic left is full.
constexpr double full = 1e-9;

/// The pairs of the graph and how much of each is left.
struct Capacities {
  std::vector<std::uint32_t> pair_of;  // by edge; its two directions are one pair
  std::vector<double> whole, left;     // by pair

  Capacities(const CommGraph& graph, PairCost step) : pair_of(graph.edge_count()) {
    const CommGraph::Rows& rows = graph.rows();
    std::vector<EdgeIndex> answer(rows.offsets.begin(), rows.offsets.end() - 1);
    for (const Rank rank : graph.ranks()) {
      for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
        const Rank target = rows.targets[edge];
        if (target < rank) continue;
        const double messages = rows.messages.empty() ? graph.default_messages() : rows.messages[edge];
        pair_of[edge] = static_cast<std::uint32_t>(whole.size());
        // Ranks come in rising order, and so do the targets of a row: the other direction is the row's next edge.
        if (target != rank) pair_of[answer[index(target)]++] = pair_of[edge];
        whole.push_back(target == rank ? 0 : 2 * (rows.bytes[edge] * step.per_byte + messages * step.per_message));
      }
    }
    left = whole;
  }
  double length(std::uint32_t pair) const { return left[pair] > full * whole[pair] ? 1 / left[pair] : infinite; }
};

/// One unit from a source to each of the `sinks` ranks nearest to it: how many units each pair carries.
struct Bundle {
  struct Load {
    std::uint32_t pair;
    double units;
  };
  std::vector<Load> loads;
  double worth = 0;  // what it proves, if sent once
};

/// Dijkstra's search from one source, until those reached prove most for the length they take.
class Search {
 public:
  explicit Search(const CommGraph& graph)
      : graph_(graph), distance_(graph.rank_count(), infinite), via_(graph.rank_count()) {}

  Bundle bundle(Rank source, const Capacities& capacities, std::uint64_t places) {
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
      if (order_.size() > places) ratio = lengths / static_cast<double>(order_.size() - places);
      for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
        const Rank target = rows.targets[edge];
        const double there = distance + capacities.length(capacities.pair_of[edge]);
        if (!(there < distance_[target])) continue;
        if (distance_[target] == infinite) touched_.push_back(target);
        distance_[target] = there;
        via_[target] = {rank, capacities.pair_of[edge]};
        queue.push({there, target});
      }
    }
    Bundle result;
    if (order_.size() > places) {
      result.worth = static_cast<double>(order_.size() - places);
      units_.resize(graph_.rank_count());
      for (const Rank rank : order_) units_[rank] = 1;
      for (std::size_t at = order_.size(); at-- > 1;) {
        const Via via = via_[order_[at]];
        result.loads.push_back({via.pair, units_[order_[at]]});
        units_[via.from] += units_[order_[at]];
      }
    }
    for (const Rank rank : touched_) distance_[rank] = infinite;
    return result;
  }

 private:
  struct Via {
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
  IdVector<Rank, Via> via_;
  IdVector<Rank, double> units_;
  std::vector<Rank> order_, touched_;  // in the order they were reached, the source first
};

/// Ranks spread over the graph, one for each `apart` of them that are near together.
std::vector<Rank> spread_sources(const CommGraph& graph, std::uint64_t apart) {
  std::vector<Rank> sources, near;
  IdVector<Rank, bool> taken(graph.rank_count(), false);
  for (const Rank rank : graph.ranks()) {
    if (taken[rank]) continue;
    sources.push_back(rank);
    taken[rank] = true;
    near.assign(1, rank);
    for (std::size_t at = 0; at < near.size() && near.size() < apart; ++at) {
      for (const Rank target : graph.targets(near[at])) {
        if (taken[target] || near.size() >= apart) continue;
        taken[target] = true;
        near.push_back(target);
      }
    }
  }
  return sources;
}

/// Sends every bundle as often as it may be sent when all are, times `part`; returns what that proves.
double send(const std::vector<Bundle>& bundles, double part, Capacities& capacities) {
  std::vector<double> alone(bundles.size(), 0.0);  // how often it could be sent if it were the only one
  std::vector<double> wanted(capacities.left.size(), 0.0);
  for (std::size_t at = 0; at < bundles.size(); ++at) {
    if (bundles[at].loads.empty()) continue;
    double times = infinite;
    for (const auto& [pair, units] : bundles[at].loads) times = std::min(times, capacities.left[pair] / units);
    alone[at] = times;
    for (const auto& [pair, units] : bundles[at].loads) wanted[pair] += times * units;
  }
  double proved = 0;
  std::vector<double> used(capacities.left.size(), 0.0);
  for (std::size_t at = 0; at < bundles.size(); ++at) {
    if (bundles[at].loads.empty()) continue;
    double crowded = 0;
    for (const auto& [pair, units] : bundles[at].loads) {
      crowded = std::max(crowded, wanted[pair] / capacities.left[pair]);
    }
    const double times = part * alone[at] / std::max(1.0, crowded);
    proved += times * bundles[at].worth;
    for (const auto& [pair, units] : bundles[at].loads) used[pair] += times * units;
  }
  for (std::size_t pair = 0; pair < used.size(); ++pair) {
    capacities.left[pair] = std::max(0.0, capacities.left[pair] - used[pair]);
  }
  return proved;
}

}  // namespace

double cost_by_flows(const CommGraph& graph, const Shell& shell, std::uint64_t work) {
  const std::uint64_t ranks = graph.rank_count();
  if (shell.places >= ranks || shell.places == 0) return 0;
  // Near its source a flow takes much of few pairs: the larger the groups, the fewer sources are enough.
  const auto apart = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(shell.places)) / 2);
  const std::uint64_t reached = std::min(ranks, 3 * shell.places);
  const std::uint64_t degree = std::max<std::uint64_t>(1, graph.edge_count() / ranks);
  const std::uint64_t a_round = ranks / std::max<std::uint64_t>(1, apart) * reached * degree;
  const std::uint64_t rounds = std::min(most_rounds, work / std::max<std::uint64_t>(1, a_round));
  if (rounds == 0) return 0;

  const auto sources = spread_sources(graph, std::max<std::uint64_t>(1, apart));
  Capacities capacities(graph, shell.step);
  oneapi::tbb::enumerable_thread_specific<Search> searches([&] { return Search(graph); });
  std::vector<Bundle> bundles(sources.size());
  double proved = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    parallel_chunks(sources.size(), 8, [&](std::size_t begin, std::size_t end) {
      Search& search = searches.local();
      for (std::size_t at = begin; at < end; ++at) {
        bundles[at] = search.bundle(sources[at], capacities, shell.places);
      }
    });
    proved += send(bundles, 1.0 / static_cast<double>(rounds - round), capacities);
  }
  return proved;
}

}  // namespace rankloom
