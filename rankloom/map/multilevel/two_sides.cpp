// SPDX-License-Identifier: Apache-2.0
// map/multilevel: refinement between two sides.
#include "rankloom/map/multilevel/two_sides.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/map/multilevel/gain_heap.hpp"
#include "rankloom/map/multilevel/pair_flows.hpp"

namespace rankloom::multilevel {
namespace {

using Room = std::array<std::uint64_t, 2>;

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

/// The same two sides, with a border that flows have searched.
Bisection with_flows(const WeightedGraph& graph, const Room& room, Bisection cut) {
  std::vector<std::uint32_t> part_of(cut.side_of.begin(), cut.side_of.end());
  cut.cut -= improve_borders(graph, room, part_of, 1);
  std::transform(part_of.begin(), part_of.end(), cut.side_of.begin(),
                 [](std::uint32_t part) { return static_cast<std::uint8_t>(part); });
  return cut;
}

}  // namespace

Bisection refined(const WeightedGraph& graph, const Room& room, std::vector<std::uint8_t> side_of, std::uint32_t passes,
                  bool flows) {
  TwoSides sides(graph, room, std::move(side_of));
  sides.refine(passes);
  Bisection cut = sides.take();
  if (!flows || cut.overload > 0 || graph.total_size() == room[0] + room[1]) return cut;
  return with_flows(graph, room, std::move(cut));
}

}  // namespace rankloom::multilevel
