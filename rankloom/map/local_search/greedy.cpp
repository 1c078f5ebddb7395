// SPDX-License-Identifier: Apache-2.0
// map/local_search: the greedy search of Getmanskiy et al. 2015, section 2.2.
//
// Starts from rank i on core i (the block placement) or from a given placement, and exchanges two tasks or moves a task
// to a free core while the cost decreases. The paper does not fix the order. Here a pass visits the ranks in increasing
// order and applies the best exchange or move of each rank (the first of equals); passes are repeated until one brings
// no gain. A pass evaluates every pair of a rank and a slot: O(edges x (ranks + cores)), as in the paper.
#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

class Greedy final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    PlacementState state(problem, start_of(problem));
    StopCondition stop_condition(run, "greedy");
    while (run_pass(state, stop_condition)) {
    }
    return Placement{state.placement(), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

 private:
  /// One pass over the ranks; false when it brought no gain or the deadline passed.
  static bool run_pass(PlacementState& state, StopCondition& stop_condition) {
    bool gained = false;
    for (const Rank rank : state.problem().graph.ranks()) {
      if (const Change change = best_change(state, rank, stop_condition); state.is_gain(change.delta)) {
        state.apply(change);
        gained = true;
      }
      if (stop_condition.stopped()) return false;
    }
    return gained;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_greedy() {
  return std::make_unique<Greedy>();
}

}  // namespace rankloom
