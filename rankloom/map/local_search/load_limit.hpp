// SPDX-License-Identifier: Apache-2.0
// map/local_search: how much work sits on each core, and which changes leave no core with too much.
#pragma once

#include <span>

#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// Beside a Seating: told of every change before the seating applies it. A change is admitted when no core that gets
/// heavier by it ends above the limit. O(1) each, 8 bytes a core.
class LoadLimit {
 public:
  /// The graph must outlive it.
  LoadLimit(const CommGraph& graph, const Topology& topology, std::span<const Core> placement, double limit)
      : graph_(&graph), limit_(limit), load_on_(topology.core_count(), 0.0) {
    for (const Rank rank : graph.ranks()) load_on_[placement[index(rank)]] += graph.load(rank);
  }

  double limit() const { return limit_; }
  double load_on(Core core) const { return load_on_[core]; }
  double room_on(Core core) const { return limit_ - load_on_[core]; }

  bool admits_move(Rank rank, Core to) const { return load_on_[to] + graph_->load(rank) <= limit_; }
  bool admits_swap(Rank a, Rank b, const Seating& seating) const {
    const double shift = graph_->load(a) - graph_->load(b);  // from a's core to b's
    return shift == 0 || load_on_[seating.core_of(shift > 0 ? b : a)] + (shift > 0 ? shift : -shift) <= limit_;
  }

  /// What the loads above the limit would grow by together.
  double overload_delta(const Change& change, const Seating& seating) const {
    const double shift = graph_->load(change.rank) - (change.partner ? graph_->load(*change.partner) : 0);
    const double from = load_on_[seating.core_of(change.rank)];
    const double to = load_on_[change.to];
    return overload(from - shift) + overload(to + shift) - overload(from) - overload(to);
  }

  void apply(const Change& change, const Seating& seating) {
    const double shift = graph_->load(change.rank) - (change.partner ? graph_->load(*change.partner) : 0);
    load_on_[seating.core_of(change.rank)] -= shift;
    load_on_[change.to] += shift;
  }

 private:
  double overload(double load) const { return load > limit_ ? load - limit_ : 0; }

  const CommGraph* graph_;
  double limit_;
  IdVector<Core, double> load_on_;
};

}  // namespace rankloom
