// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: what the two searches (sums over pairs, congestion) have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/exhaustive/dense_qap.hpp"
#include "rankloom/map/exhaustive/symmetry.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

enum class SearchEnd : std::uint8_t { complete, out_of_time, out_of_nodes };

/// The best placement so far; a search begins with one found by local search and ends with the optimum.
struct Incumbent {
  std::vector<Core> core_of;
  double cost = 0;
};

/// Counts the visited partial placements against the limits.
class SearchBudget {
 public:
  SearchBudget(std::uint64_t max_nodes, StopCondition& stop_condition) : max_nodes_(max_nodes), stop_condition_(stop_condition) {}

  /// Counts one; false when the search has to end.
  bool spend() {
    if (end_ != SearchEnd::complete) return false;
    if (++nodes_ > max_nodes_) end_ = SearchEnd::out_of_nodes;
    if (stop_condition_.should_stop()) end_ = SearchEnd::out_of_time;
    return end_ == SearchEnd::complete;
  }
  bool spent() const { return end_ != SearchEnd::complete; }
  SearchEnd end() const { return end_; }
  std::uint64_t nodes() const { return nodes_; }

 private:
  std::uint64_t max_nodes_;
  StopCondition& stop_condition_;
  std::uint64_t nodes_ = 0;
  SearchEnd end_ = SearchEnd::complete;
};

/// Depth-first search over the models that are sums over pairs. Improves `incumbent` to the optimum if the budget
/// lasts; returns a bound that no placement is below. Costs that differ by less than rounding count as equal.
double search_pairwise(const SmallProblem& problem, const Symmetry& symmetry, SearchBudget& budget,
                       Incumbent& incumbent);

/// The same for the largest link load.
double search_congestion(const MapProblem& problem, const SmallProblem& small, const Symmetry& symmetry,
                         SearchBudget& budget, Incumbent& incumbent);

}  // namespace rankloom
