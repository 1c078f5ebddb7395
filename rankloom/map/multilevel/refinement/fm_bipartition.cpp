// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: two-way FM (Fiduccia, Mattheyses 1982) with one gain queue per side.
#include "rankloom/map/multilevel/refinement/fm_bipartition.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/map/multilevel/refinement/flow_refinement.hpp"
#include "rankloom/map/multilevel/refinement/gain_queue.hpp"

namespace rankloom::multilevel {
namespace {

class TwoWayFm {
 public:
  TwoWayFm(const WeightedGraph& graph, const SideWeights& max_block_weight, std::vector<std::uint8_t> side_of)
      : graph_(graph),
        max_block_weight_(max_block_weight),
        side_of_(std::move(side_of)),
        gain_(graph.vertex_count()),
        positions_(graph.vertex_count()),
        queues_{GainQueue(positions_), GainQueue(positions_)},
        locked_(graph.vertex_count(), 0) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      block_weight_[side_of_[vertex]] += graph_.vertex_weight(vertex);
      double external = 0;
      double internal = 0;
      for (const Edge edge : graph_.edges(vertex))
        (side_of_[edge.to] == side_of_[vertex] ? internal : external) += edge.weight;
      gain_[vertex] = external - internal + pull_away(vertex);
      // An edge is counted at both ends, a pull once.
      cut_ += external / 2 + std::max(pull_away(vertex), 0.0);
    }
  }

  void refine(std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const double cut_before = cut_;
      const std::uint64_t overload_before = overload();
      run_pass();
      if (overload() >= overload_before && cut_ >= cut_before * (1 - 1e-9)) break;
    }
  }

  Bipartition take() { return {std::move(side_of_), cut_, overload()}; }

 private:
  /// How strongly fixed vertices pull the vertex to the other side.
  double pull_away(std::uint32_t vertex) const {
    return side_of_[vertex] == 0 ? graph_.pull(vertex) : -graph_.pull(vertex);
  }
  std::uint64_t overload(int side) const {
    return block_weight_[side] > max_block_weight_[side] ? block_weight_[side] - max_block_weight_[side] : 0;
  }
  std::uint64_t overload() const { return overload(0) + overload(1); }

  void run_pass() {
    queues_[0].clear();
    queues_[1].clear();
    const bool fits = overload() == 0;
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      const bool on_boundary = std::any_of(graph_.edges(vertex).begin(), graph_.edges(vertex).end(),
                                           [&](const Edge& edge) { return side_of_[edge.to] != side_of_[vertex]; });
      if (on_boundary || !fits || graph_.edges(vertex).empty() || pull_away(vertex) > 0)
        queues_[side_of_[vertex]].set(vertex, gain_[vertex]);
    }
    moves_.clear();
    std::size_t best_length = 0;
    double best_cut = cut_;
    std::uint64_t best_overload = overload();
    const std::size_t patience = 60 + graph_.vertex_count() / 16;
    while (moves_.size() - best_length < patience) {
      const int from = next_side();
      if (from < 0) break;
      move(queues_[from].top());
      const std::uint64_t overload_now = overload();
      if (overload_now < best_overload ||
          (overload_now == best_overload && cut_ < best_cut - 1e-9 * std::abs(best_cut))) {
        best_overload = overload_now;
        best_cut = cut_;
        best_length = moves_.size();
      }
    }
    while (moves_.size() > best_length) {
      undo(moves_.back());
      moves_.pop_back();
    }
    for (const std::uint32_t vertex : moves_) locked_[vertex] = 0;
  }

  /// The side whose top vertex moves next; -1: no move is possible. A side may exceed its maximum weight by one vertex
  /// until another vertex moves back, so that perfectly balanced bipartitions are searched as swaps.
  int next_side() const {
    for (int side = 0; side < 2; ++side) {
      if (overload(side) > 0) return queues_[side].empty() ? -1 : side;
    }
    int best = -1;
    for (int side = 0; side < 2; ++side) {
      if (queues_[side].empty()) continue;
      const std::uint64_t weight_after = block_weight_[1 - side] + graph_.vertex_weight(queues_[side].top());
      if (weight_after > max_block_weight_[1 - side] + graph_.max_vertex_weight()) continue;
      if (best < 0 || queues_[side].top_gain() > queues_[best].top_gain() ||
          (queues_[side].top_gain() == queues_[best].top_gain() && block_weight_[side] > block_weight_[best])) {
        best = side;
      }
    }
    return best;
  }

  void move(std::uint32_t vertex) {
    queues_[side_of_[vertex]].remove(vertex);
    locked_[vertex] = 1;
    moves_.push_back(vertex);
    change_side(vertex, [&](std::uint32_t neighbour) {
      if (locked_[neighbour] == 0) queues_[side_of_[neighbour]].set(neighbour, gain_[neighbour]);
    });
  }
  void undo(std::uint32_t vertex) {
    locked_[vertex] = 0;
    change_side(vertex, [](std::uint32_t) {});
  }
  template <class OnGainChange>
  void change_side(std::uint32_t vertex, const OnGainChange& on_gain_change) {
    const std::uint8_t from = side_of_[vertex];
    block_weight_[from] -= graph_.vertex_weight(vertex);
    block_weight_[1 - from] += graph_.vertex_weight(vertex);
    side_of_[vertex] = static_cast<std::uint8_t>(1 - from);
    cut_ -= gain_[vertex];
    gain_[vertex] = -gain_[vertex];
    for (const Edge edge : graph_.edges(vertex)) {
      gain_[edge.to] += side_of_[edge.to] == from ? 2 * double{edge.weight} : -2 * double{edge.weight};
      on_gain_change(edge.to);
    }
  }

  const WeightedGraph& graph_;
  SideWeights max_block_weight_;
  std::vector<std::uint8_t> side_of_;
  std::vector<double> gain_;
  QueuePositions positions_;
  std::array<GainQueue, 2> queues_;
  std::vector<std::uint8_t> locked_;
  std::vector<std::uint32_t> moves_;
  SideWeights block_weight_{};
  double cut_ = 0;
};

Bipartition refine_by_flow(const WeightedGraph& graph, const SideWeights& max_block_weight, Bipartition bipartition) {
  std::vector<std::uint32_t> block_of(bipartition.side_of.begin(), bipartition.side_of.end());
  bipartition.cut -= flow_refinement(graph, max_block_weight, block_of, 1);
  std::transform(block_of.begin(), block_of.end(), bipartition.side_of.begin(),
                 [](std::uint32_t block) { return static_cast<std::uint8_t>(block); });
  return bipartition;
}

}  // namespace

Bipartition fm_bipartition(const WeightedGraph& graph, const SideWeights& max_block_weight,
                           std::vector<std::uint8_t> side_of, std::uint32_t passes, bool use_flow) {
  TwoWayFm fm(graph, max_block_weight, std::move(side_of));
  fm.refine(passes);
  Bipartition bipartition = fm.take();
  const bool has_free_weight = graph.total_vertex_weight() != max_block_weight[0] + max_block_weight[1];
  if (!use_flow || bipartition.overload > 0 || !has_free_weight || graph.has_pulls()) return bipartition;
  return refine_by_flow(graph, max_block_weight, std::move(bipartition));
}

}  // namespace rankloom::multilevel
