// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the branch-and-bound searches (sums over pairs, congestion), their incumbent and their budget.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/exhaustive/dense_qap.hpp"
#include "rankloom/map/exhaustive/symmetry.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

enum class SearchOutcome : std::uint8_t { complete, out_of_time, out_of_nodes };

/// The best placement so far. A search starts with one from a local search and ends with the optimum.
struct Incumbent {
  std::vector<Core> core_of;
  double cost = 0;
};

/// Counts the visited partial placements (nodes of the search tree) and checks the limits.
class SearchBudget {
 public:
  SearchBudget(std::uint64_t max_nodes, StopCondition& stop_condition)
      : max_nodes_(max_nodes), stop_condition_(stop_condition) {}

  /// Counts one node; false when the search has to end.
  bool visit_node() {
    if (outcome_ != SearchOutcome::complete) return false;
    if (++nodes_ > max_nodes_) outcome_ = SearchOutcome::out_of_nodes;
    if (stop_condition_.should_stop()) outcome_ = SearchOutcome::out_of_time;
    return outcome_ == SearchOutcome::complete;
  }
  bool is_exhausted() const { return outcome_ != SearchOutcome::complete; }
  SearchOutcome outcome() const { return outcome_; }
  std::uint64_t nodes() const { return nodes_; }

 private:
  std::uint64_t max_nodes_;
  StopCondition& stop_condition_;
  std::uint64_t nodes_ = 0;
  SearchOutcome outcome_ = SearchOutcome::complete;
};

/// Depth-first branch and bound for the cost models that are sums over pairs. Improves `incumbent` to the optimum if
/// the budget suffices. Returns a lower bound of the cost. Costs that differ only by rounding errors count as equal.
double search_pairwise(const DenseQap& problem, const MachineSymmetry& symmetry, SearchBudget& budget,
                       Incumbent& incumbent);

/// The same for the congestion model.
double search_congestion(const MapProblem& problem, const DenseQap& qap, const MachineSymmetry& symmetry,
                         SearchBudget& budget, Incumbent& incumbent);

}  // namespace rankloom
