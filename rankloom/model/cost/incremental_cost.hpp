// SPDX-License-Identifier: Apache-2.0
// model: how a mapping's cost changes when one rank moves or two exchange places. The engine of every local search.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom {

/// A placement with its cost kept up to date. All costs are objectives: smaller is better in every model. A change is
/// computed from the neighbours of the moved ranks alone: O(degree), for congestion O(degree x route x log links).
/// Capacities are the caller's business. Deltas do not change the state that can be seen; they are not for several
/// threads.
class IncrementalCost {
 public:
  virtual ~IncrementalCost() = default;

  /// What the cost would change by if the rank moved there; negative is a gain.
  virtual double move_delta(Rank rank, Core to) = 0;
  /// What the cost would change by if the two ranks exchanged cores.
  virtual double swap_delta(Rank a, Rank b) = 0;
  virtual void move(Rank rank, Core to) = 0;
  virtual void swap(Rank a, Rank b) = 0;

  double cost() const { return cost_; }
  Core core_of(Rank rank) const { return core_of_[rank]; }
  const std::vector<Core>& placement() const { return core_of_; }
  /// Those that the rank talks to in either direction, itself left out.
  virtual std::span<const Rank> neighbours(Rank rank) const = 0;

 protected:
  explicit IncrementalCost(std::span<const Core> start) : core_of_(start.begin(), start.end()) {}
  IdVector<Rank, Core> core_of_;
  double cost_ = 0;
};

/// The graph and the topology must outlive it.
std::unique_ptr<IncrementalCost> make_incremental_cost(const CommGraph& graph, const Topology& topology,
                                                       CostModel model, std::span<const Core> start);

}  // namespace rankloom
