// SPDX-License-Identifier: Apache-2.0
// model/cost: the cost model `predicted` for local search.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rankloom/model/cost/incremental_cost.hpp"
#include "rankloom/model/cost/neighbourhoods.hpp"
#include "rankloom/model/machine/platform.hpp"
#include "rankloom/model/machine/route_table.hpp"

namespace rankloom {

/// The smooth form of predict(). The predicted time is a maximum: most changes of a placement do not change it, so a
/// search would have no direction. Here it is replaced by the 8-norm of the times of all channels and of all single
/// transfers, plus the 8-norm of the latencies of all pairs. Sums of powers change only where the moved ranks and their
/// neighbours send: O(degree x route length).
class PredictedCost final : public IncrementalCost {
 public:
  /// The topology is not a distance matrix.
  PredictedCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start);

  double move_delta(Rank rank, Core to) override;
  double exchange_delta(Rank a, Rank b) override;
  void move(Rank rank, Core to) override;
  void exchange(Rank a, Rank b) override;
  std::span<const Rank> neighbours(Rank rank) const override { return neighbours_.others(rank); }
  std::vector<Rank> ranks_in_the_way() const override;

 private:
  struct Ends {
    Core from, to;
  };
  /// Sums of eighth powers.
  struct Sums {
    double busy = 0;       ///< Of the times of channels and of single transfers.
    double latencies = 0;  ///< Of messages x latency of pairs.
  };

  /// Adds the powers of one edge that does not use channels.
  void add_edge(Ends ends, double bytes, double messages, double sign, Sums& sums) const;
  void recompute_sums();
  void collect_exchange(Rank a, Rank b);
  void collect_relocation(Rank rank, Core to, Rank except);
  /// One edge is between other cores.
  void collect(double bytes, double messages, Ends before, Ends after);
  /// The sums with the collected changes, which are then forgotten, or become part of the state.
  Sums changed_sums() const;
  double cost_of(const Sums& sums) const;
  void discard();
  void commit();

  Platform platform_;
  RouteTable routes_;
  Neighbourhoods neighbours_;
  std::vector<double> seconds_per_byte_;  // by channel; 0: unlimited
  std::vector<double> busy_;              // by channel, in seconds
  Sums sums_;
  double scale_ = 1;   // times are multiplied by it, so that their powers are near 1
  double summed_ = 0;  // both sums when they were last recomputed
  // The change under evaluation.
  std::vector<double> difference_;        // by channel, in seconds
  std::vector<std::uint8_t> is_changed_;  // by channel
  std::vector<Channel> changed_;
  Sums sums_difference_;  // of edges, without channels
};

/// The sum of the smooth costs of all phases. A change costs as much as in all phases together.
class PhasedCost final : public IncrementalCost {
 public:
  /// The graph has phases; the topology is not a distance matrix.
  PhasedCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start);

  double move_delta(Rank rank, Core to) override;
  double exchange_delta(Rank a, Rank b) override;
  void move(Rank rank, Core to) override;
  void exchange(Rank a, Rank b) override;
  std::span<const Rank> neighbours(Rank rank) const override { return neighbours_.others(rank); }
  /// Those of the phase that costs most.
  std::vector<Rank> ranks_in_the_way() const override;

 private:
  void sum_costs();

  Neighbourhoods neighbours_;  // of all phases
  std::vector<std::unique_ptr<PredictedCost>> phases_;
};

}  // namespace rankloom
