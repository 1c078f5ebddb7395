// SPDX-License-Identifier: Apache-2.0
// map/multilevel: multilevel bisection.
#include "rankloom/map/multilevel/bisection.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/flow_cut.hpp"
#include "rankloom/map/multilevel/gain_heap.hpp"
#include "rankloom/map/multilevel/matching.hpp"

namespace rankloom::multilevel {
namespace {

using Room = std::array<std::uint64_t, 2>;

constexpr std::uint32_t coarse_enough = 150;
/// See PairFlows.
constexpr std::uint64_t widest = 3;
constexpr std::uint64_t boldest = 16;

/// Moves with rollback between two sides.
class TwoSides {
 public:
  TwoSides(const WeightedGraph& graph, const Room& room, std::vector<std::uint8_t> side_of)
      : graph_(graph),
        room_(room),
        side_of_(std::move(side_of)),
        gain_(graph.vertex_count()),
        places_(graph.vertex_count()),
        heaps_{GainHeap(places_), GainHeap(places_)},
        locked_(graph.vertex_count(), 0) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      held_[side_of_[vertex]] += graph_.size(vertex);
      double across = 0;
      double inside = 0;
      for (const Edge edge : graph_.edges(vertex))
        (side_of_[edge.to] == side_of_[vertex] ? inside : across) += edge.weight;
      gain_[vertex] = across - inside;
      cut_ += across;
    }
    cut_ /= 2;
  }

  void refine(std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const double before = cut_;
      const std::uint64_t over = overload();
      run_pass();
      if (overload() >= over && cut_ >= before * (1 - 1e-9)) break;
    }
  }

  /// Better cuts in a band around this one, by flows: wide bands first, whose cuts may not keep the balance.
  void refine_by_flow() {
    if (overload() > 0 || graph_.total_size() == room_[0] + room_[1]) return;
    FlowCut flow(graph_.vertex_count());
    for (std::uint64_t reach = boldest; reach > 0;) {
      std::vector<std::uint32_t> border;
      for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
        for (const Edge edge : graph_.edges(vertex)) {
          if (side_of_[edge.to] != side_of_[vertex]) {
            border.push_back(vertex);
            break;
          }
        }
      }
      const std::uint64_t spare[2] = {room_[0] - held_[0], room_[1] - held_[1]};
      const std::uint64_t cap = widest * border.size() * graph_.total_size() / graph_.vertex_count();
      const auto outcome = flow.search(
          graph_, [&](std::uint32_t vertex) { return side_of_[vertex]; }, border,
          {std::min({reach * spare[1], held_[0] / 2, cap}), std::min({reach * spare[0], held_[1] / 2, cap})},
          static_cast<std::int64_t>(spare[0]), static_cast<std::int64_t>(spare[1]));
      if (outcome.gain == 0) {
        reach /= 4;
        continue;
      }
      for (const auto& movers : outcome.to_side) {
        for (const std::uint32_t vertex : movers) change_side(vertex, [](std::uint32_t) {});
      }
    }
  }

  double cut() const { return cut_; }
  std::uint64_t overload() const { return over(0) + over(1); }
  Bisection take() { return {std::move(side_of_), cut_, overload()}; }

 private:
  std::uint64_t over(int side) const { return held_[side] > room_[side] ? held_[side] - room_[side] : 0; }

  void run_pass() {
    heaps_[0].clear();
    heaps_[1].clear();
    const bool fits = overload() == 0;
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      const bool boundary = std::any_of(graph_.edges(vertex).begin(), graph_.edges(vertex).end(),
                                        [&](const Edge& edge) { return side_of_[edge.to] != side_of_[vertex]; });
      if (boundary || !fits || graph_.edges(vertex).empty()) heaps_[side_of_[vertex]].set(vertex, gain_[vertex]);
    }
    moved_.clear();
    std::size_t best_length = 0;
    double best_cut = cut_;
    std::uint64_t best_over = overload();
    const std::size_t patience = 60 + graph_.vertex_count() / 16;
    while (moved_.size() - best_length < patience) {
      const int from = next_side();
      if (from < 0) break;
      move(heaps_[from].top());
      const std::uint64_t overloaded = overload();
      if (overloaded < best_over || (overloaded == best_over && cut_ < best_cut - 1e-9 * std::abs(best_cut))) {
        best_over = overloaded;
        best_cut = cut_;
        best_length = moved_.size();
      }
    }
    while (moved_.size() > best_length) {
      undo(moved_.back());
      moved_.pop_back();
    }
    for (const std::uint32_t vertex : moved_) locked_[vertex] = 0;
  }

  /// The side whose best vertex leaves next; -1: nobody can. A side may be too full for as long as it takes to bring
  /// somebody back, so that exact divisions can be searched as exchanges.
  int next_side() const {
    for (int side = 0; side < 2; ++side) {
      if (over(side) > 0) return heaps_[side].empty() ? -1 : side;
    }
    int best = -1;
    for (int side = 0; side < 2; ++side) {
      if (heaps_[side].empty()) continue;
      const std::uint64_t after = held_[1 - side] + graph_.size(heaps_[side].top());
      if (after > room_[1 - side] + graph_.largest()) continue;
      if (best < 0 || heaps_[side].top_gain() > heaps_[best].top_gain() ||
          (heaps_[side].top_gain() == heaps_[best].top_gain() && held_[side] > held_[best])) {
        best = side;
      }
    }
    return best;
  }

  void move(std::uint32_t vertex) {
    heaps_[side_of_[vertex]].remove(vertex);
    locked_[vertex] = 1;
    moved_.push_back(vertex);
    change_side(vertex, [&](std::uint32_t neighbour) {
      if (locked_[neighbour] == 0) heaps_[side_of_[neighbour]].set(neighbour, gain_[neighbour]);
    });
  }
  void undo(std::uint32_t vertex) {
    locked_[vertex] = 0;
    change_side(vertex, [](std::uint32_t) {});
  }
  template <class Changed>
  void change_side(std::uint32_t vertex, const Changed& changed) {
    const std::uint8_t from = side_of_[vertex];
    held_[from] -= graph_.size(vertex);
    held_[1 - from] += graph_.size(vertex);
    side_of_[vertex] = static_cast<std::uint8_t>(1 - from);
    cut_ -= gain_[vertex];
    gain_[vertex] = -gain_[vertex];
    for (const Edge edge : graph_.edges(vertex)) {
      gain_[edge.to] += side_of_[edge.to] == from ? 2 * double{edge.weight} : -2 * double{edge.weight};
      changed(edge.to);
    }
  }

  const WeightedGraph& graph_;
  Room room_;
  std::vector<std::uint8_t> side_of_;
  std::vector<double> gain_;
  HeapPlaces places_;
  std::array<GainHeap, 2> heaps_;
  std::vector<std::uint8_t> locked_;
  std::vector<std::uint32_t> moved_;
  std::array<std::uint64_t, 2> held_{};
  double cut_ = 0;
};

Bisection refined(const WeightedGraph& graph, const Room& room, std::vector<std::uint8_t> side_of, std::uint32_t passes,
                  bool flows) {
  TwoSides sides(graph, room, std::move(side_of));
  sides.refine(passes);
  if (flows) sides.refine_by_flow();
  return sides.take();
}

/// Side 0 grows from one vertex by the neighbour that is bound most tightly to it, until it holds its share.
std::vector<std::uint8_t> grown(const WeightedGraph& graph, const Room& room, Random& random) {
  const std::uint32_t count = graph.vertex_count();
  std::vector<std::uint8_t> side_of(count, 1);
  const auto share = static_cast<std::uint64_t>(static_cast<double>(graph.total_size()) * static_cast<double>(room[0]) /
                                                static_cast<double>(room[0] + room[1]));
  const std::uint64_t least = graph.total_size() > room[1] ? graph.total_size() - room[1] : 0;
  const std::uint64_t wanted = std::max(least, share);
  HeapPlaces places(count);
  GainHeap near(places);
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) order[vertex] = vertex;
  random.shuffle(std::span(order));
  std::size_t next = 0;
  for (std::uint64_t held = 0; held < wanted;) {
    while (near.empty() && next < count && side_of[order[next]] == 0) ++next;
    if (near.empty() && next == count) break;
    const std::uint32_t vertex = near.empty() ? order[next] : near.pop();
    side_of[vertex] = 0;
    held += graph.size(vertex);
    for (const Edge edge : graph.edges(vertex)) {
      if (side_of[edge.to] == 0) continue;
      double gain = 0;
      if (near.contains(edge.to)) {
        gain = near.gain(edge.to) + 2 * double{edge.weight};
      } else {
        for (const Edge back : graph.edges(edge.to)) gain += side_of[back.to] == 0 ? back.weight : -back.weight;
      }
      near.set(edge.to, gain);
    }
  }
  return side_of;
}

/// A graph and its coarser pictures.
class Levels {
 public:
  explicit Levels(const WeightedGraph& finest) : finest_(finest) {}

  const WeightedGraph& coarsest() const { return coarser_.empty() ? finest_ : coarser_.back().graph; }

  /// Until there are no more than `enough` vertices, none larger than `largest`; only vertices on one side become one.
  void coarsen(std::uint32_t enough, std::uint64_t largest, std::uint64_t seed, std::vector<std::uint8_t>* side_of) {
    while (coarsest().vertex_count() > enough) {
      const std::vector<std::uint32_t> label = side_of == nullptr
                                                   ? std::vector<std::uint32_t>()
                                                   : std::vector<std::uint32_t>(side_of->begin(), side_of->end());
      auto step = matched(coarsest(), largest, mix(seed + coarser_.size()), label);
      if (step.coarse_count * std::uint64_t{20} > coarsest().vertex_count() * std::uint64_t{19}) break;
      auto next = contracted(coarsest(), step.coarse_of, step.coarse_count);
      if (side_of != nullptr) {
        std::vector<std::uint8_t> sides(step.coarse_count);
        for (std::size_t vertex = 0; vertex < side_of->size(); ++vertex)
          sides[step.coarse_of[vertex]] = (*side_of)[vertex];
        *side_of = std::move(sides);
      }
      coarser_.push_back({std::move(next), std::move(step.coarse_of)});
    }
  }

  /// Brings a division of the coarsest graph down to the finest one.
  Bisection refine(Bisection cut, const Room& room, std::uint32_t passes, bool flows) const {
    for (std::size_t level = coarser_.size(); level-- > 0;) {
      const WeightedGraph& finer = level == 0 ? finest_ : coarser_[level - 1].graph;
      std::vector<std::uint8_t> side_of(finer.vertex_count());
      for (std::uint32_t vertex = 0; vertex < finer.vertex_count(); ++vertex) {
        side_of[vertex] = cut.side_of[coarser_[level].coarse_of[vertex]];
      }
      cut = refined(finer, room, std::move(side_of), passes, flows);
    }
    return cut;
  }

 private:
  struct Level {
    WeightedGraph graph;
    std::vector<std::uint32_t> coarse_of;  // of the finer level
  };
  const WeightedGraph& finest_;
  std::vector<Level> coarser_;
};

class Bisector {
 public:
  Bisector(const Room& room, const BisectionEffort& effort, std::uint64_t total)
      : room_(room),
        effort_(effort),
        smaller_(std::max<std::uint64_t>(1, std::min({room[0], room[1], total}))),
        largest_(std::min(smaller_, std::max<std::uint64_t>({2, smaller_ / 4, total * 3 / (2 * coarse_enough)}))) {}

  Bisection cut(const WeightedGraph& graph, std::uint64_t seed) const {
    Levels levels(graph);
    levels.coarsen(effort_.decisive, std::max<std::uint64_t>(1, graph.total_size() * 3 / (2 * effort_.decisive)), seed,
                   nullptr);
    Bisection best;
    for (std::uint32_t attempt = 0; attempt < effort_.tries; ++attempt) {
      Bisection one = first_cut(levels.coarsest(), mix(seed) + attempt);
      if (attempt == 0 || one.better_than(best)) best = std::move(one);
    }
    for (std::uint32_t cycle = 0; cycle < effort_.cycles; ++cycle) {
      Bisection one = again(levels.coarsest(), best, mix(seed) + ~cycle);
      if (one.better_than(best)) best = std::move(one);
    }
    if (effort_.flows) best = refined(levels.coarsest(), room_, std::move(best.side_of), 1, true);
    return levels.refine(std::move(best), room_, effort_.passes, effort_.flows);
  }

 private:
  Bisection first_cut(const WeightedGraph& graph, std::uint64_t seed) const {
    Levels levels(graph);
    levels.coarsen(coarse_enough, largest_, seed, nullptr);
    Random random(seed, 1);
    Bisection best;
    for (std::uint32_t start = 0; start < effort_.starts; ++start) {
      Bisection one = refined(levels.coarsest(), room_, grown(levels.coarsest(), room_, random), effort_.passes, false);
      if (start == 0 || one.better_than(best)) best = std::move(one);
    }
    return levels.refine(std::move(best), room_, effort_.passes, false);
  }

  Bisection again(const WeightedGraph& graph, const Bisection& cut, std::uint64_t seed) const {
    Levels levels(graph);
    Bisection coarse = cut;
    levels.coarsen(coarse_enough, largest_, seed, &coarse.side_of);
    return levels.refine(refined(levels.coarsest(), room_, coarse.side_of, effort_.passes, false), room_,
                         effort_.passes, false);
  }

  Room room_;
  const BisectionEffort& effort_;
  std::uint64_t smaller_, largest_;
};

}  // namespace

Bisection bisect(const WeightedGraph& graph, std::array<std::uint64_t, 2> room, const BisectionEffort& effort,
                 std::uint64_t seed) {
  if (graph.total_size() <= room[0]) return {std::vector<std::uint8_t>(graph.vertex_count(), 0), 0, 0};
  return Bisector(room, effort, graph.total_size()).cut(graph, seed);
}

}  // namespace rankloom::multilevel
