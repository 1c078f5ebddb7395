// SPDX-License-Identifier: Apache-2.0
// map/multilevel: flows between all pairs of parts.
#include "rankloom/map/multilevel/pair_flows.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/flow_cut.hpp"

namespace rankloom::multilevel {
namespace {

/// The band on each side of a border holds at most so many times the border, and at most so many times what may change
/// sides: beyond, flows take longer and mostly end in cuts that do not keep the balance.
constexpr std::uint64_t widest = 3;
constexpr std::uint64_t boldest = 16;

class PairFlows {
 public:
  PairFlows(const WeightedGraph& graph, std::span<const std::uint64_t> room, std::span<std::uint32_t> part_of)
      : graph_(graph), room_(room), part_of_(part_of), held_(room.size(), 0), changed_(room.size(), 1) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex)
      held_[part_of_[vertex]] += graph_.size(vertex);
  }

  double run(std::uint32_t times) {
    double gained = 0;
    for (std::uint32_t time = 0; time < times; ++time) {
      const double before = gained;
      for (const auto& pairs : rounds()) gained += play(pairs);
      if (gained == before) break;
    }
    return gained;
  }

 private:
  struct Pair {
    std::uint32_t a, b;
    std::vector<std::uint32_t> border;
    bool gained = false;
  };

  std::uint32_t part(std::uint32_t vertex) const {
    // Others may be moving vertices of their own pairs meanwhile; whichever of their two parts is read, it is not ours.
    return std::atomic_ref(part_of_[vertex]).load(std::memory_order_relaxed);
  }

  /// The pairs that touch and of which one changed since the last time, those with the longest borders first, each in
  /// the first round in which both are free.
  std::vector<std::vector<Pair>> rounds() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> touching;
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      const std::uint32_t own = part_of_[vertex];
      for (const Edge edge : graph_.edges(vertex)) {
        const std::uint32_t other = part_of_[edge.to];
        if (other == own || (changed_[own] == 0 && changed_[other] == 0)) continue;
        Pair& pair = touching[std::minmax(own, other)];
        if (pair.border.empty() || pair.border.back() != vertex) pair.border.push_back(vertex);
      }
    }
    std::vector<Pair> pairs;
    for (auto& [parts, pair] : touching) {
      pair.a = parts.first;
      pair.b = parts.second;
      pairs.push_back(std::move(pair));
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& x, const Pair& y) { return x.border.size() > y.border.size(); });
    std::fill(changed_.begin(), changed_.end(), 0);
    std::vector<std::vector<Pair>> rounds;
    std::vector<std::vector<std::uint8_t>> busy;
    for (Pair& pair : pairs) {
      std::size_t round = 0;
      while (round < rounds.size() && (busy[round][pair.a] != 0 || busy[round][pair.b] != 0)) ++round;
      if (round == rounds.size()) {
        rounds.emplace_back();
        busy.emplace_back(room_.size(), 0);
      }
      busy[round][pair.a] = busy[round][pair.b] = 1;
      rounds[round].push_back(std::move(pair));
    }
    return rounds;
  }

  double play(const std::vector<Pair>& pairs) {
    return parallel_sum<double>(
        pairs.size(), [&](std::size_t at, std::size_t) { return improve(pairs[at]); }, 1);
  }

  double improve(const Pair& pair) {
    FlowCut& flow = flows_.local();
    std::vector<std::uint32_t> border = pair.border;
    const auto side = [&](std::uint32_t vertex) {
      const std::uint32_t own = part(vertex);
      return own == pair.a ? 0U : own == pair.b ? 1U : 2U;
    };
    double gained = 0;
    for (std::uint64_t reach = boldest; reach > 0;) {
      std::erase_if(border, [&](std::uint32_t vertex) { return side(vertex) > 1; });
      if (border.empty() || held_[pair.a] > room_[pair.a] || held_[pair.b] > room_[pair.b]) break;
      const std::uint64_t spare[2] = {room_[pair.a] - held_[pair.a], room_[pair.b] - held_[pair.b]};
      const std::uint64_t width = widest * border.size() * graph_.total_size() / graph_.vertex_count();
      const auto outcome = flow.search(graph_, side, border,
                                       {std::min({reach * spare[1], held_[pair.a] / 2, width}),
                                        std::min({reach * spare[0], held_[pair.b] / 2, width})},
                                       static_cast<std::int64_t>(spare[0]), static_cast<std::int64_t>(spare[1]));
      if (outcome.gain == 0) {
        reach /= 4;
        continue;
      }
      gained += outcome.gain;
      changed_[pair.a] = changed_[pair.b] = 1;
      for (const int to : {0, 1}) {
        const std::uint32_t from = to == 0 ? pair.b : pair.a;
        const std::uint32_t into = to == 0 ? pair.a : pair.b;
        for (const std::uint32_t vertex : outcome.to_side[to]) {
          held_[from] -= graph_.size(vertex);
          held_[into] += graph_.size(vertex);
          std::atomic_ref(part_of_[vertex]).store(into, std::memory_order_relaxed);
        }
      }
      border = border_around(outcome, border, side);
    }
    return gained;
  }

  /// After a change the border runs along what moved and where it still was.
  template <class Side>
  std::vector<std::uint32_t> border_around(const FlowCut::Outcome& outcome, std::vector<std::uint32_t> candidates,
                                           const Side& side) const {
    for (const auto& movers : outcome.to_side) {
      for (const std::uint32_t vertex : movers) {
        candidates.push_back(vertex);
        for (const Edge edge : graph_.edges(vertex)) candidates.push_back(edge.to);
      }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::erase_if(candidates, [&](std::uint32_t vertex) {
      const auto own = side(vertex);
      return own > 1 || std::none_of(graph_.edges(vertex).begin(), graph_.edges(vertex).end(),
                                     [&](const Edge& edge) { return side(edge.to) == 1 - own; });
    });
    return candidates;
  }

  const WeightedGraph& graph_;
  std::span<const std::uint64_t> room_;
  std::span<std::uint32_t> part_of_;
  std::vector<std::uint64_t> held_;
  std::vector<std::uint8_t> changed_;
  oneapi::tbb::enumerable_thread_specific<FlowCut> flows_{[this] { return FlowCut(graph_.vertex_count()); }};
};

}  // namespace

double improve_borders(const WeightedGraph& graph, std::span<const std::uint64_t> room,
                       std::span<std::uint32_t> part_of, std::uint32_t rounds) {
  return PairFlows(graph, room, part_of).run(rounds);
}

}  // namespace rankloom::multilevel
