// SPDX-License-Identifier: Apache-2.0
// model/cost: the change of the cost when one rank moves or two ranks exchange cores, for local search.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom {

/// A placement and its current cost. All costs are objectives: smaller is better in every model. A change is computed
/// from the neighbours of the moved ranks: O(degree), for congestion O(degree x route length x log links). The caller
/// checks capacities. The …_delta functions leave the placement unchanged but are not thread-safe.
class IncrementalCost {
 public:
  virtual ~IncrementalCost() = default;

  /// The change of the cost if the rank moved to this core; negative is an improvement.
  virtual double move_delta(Rank rank, Core to) = 0;
  /// The change of the cost if the two ranks exchanged cores.
  virtual double exchange_delta(Rank a, Rank b) = 0;
  virtual void move(Rank rank, Core to) = 0;
  virtual void exchange(Rank a, Rank b) = 0;

  double cost() const { return cost_; }
  Core core_of(Rank rank) const { return core_of_[rank]; }
  const std::vector<Core>& placement() const { return core_of_; }
  /// The ranks that send to this rank or receive from it, except for the rank itself.
  virtual std::span<const Rank> neighbours(Rank rank) const = 0;
  /// The ranks of which one must move to reduce the cost, in ascending order; empty: any.
  virtual std::vector<Rank> ranks_in_the_way() const { return {}; }

 protected:
  explicit IncrementalCost(std::span<const Core> start) : core_of_(start.begin(), start.end()) {}
  IdVector<Rank, Core> core_of_;
  double cost_ = 0;
};

/// The graph and the topology must outlive the result.
std::unique_ptr<IncrementalCost> make_incremental_cost(const CommGraph& graph, const Topology& topology,
                                                       CostModel model, std::span<const Core> start);

}  // namespace rankloom
