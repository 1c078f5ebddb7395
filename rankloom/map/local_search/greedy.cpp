// SPDX-License-Identifier: Apache-2.0
// map/local_search: the greedy search of Getmanskiy et al. 2015, section 2.2.
//
// From rank i on core i (the block placement) or any other start, exchange two tasks or move a task to a free core
// while the cost falls. The paper leaves the order open; here ranks are visited in rising order, each takes the best of
// all its exchanges and moves at once (the first one found among equals), and passes are repeated until one brings no
// gain. A pass looks at every pair of a rank and a place: O(edges x (ranks + cores)), as in the paper.
#include "rankloom/map/local_search/local_searches.hpp"
#include "rankloom/map/local_search/seating.hpp"

namespace rankloom {
namespace {

class Greedy final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    Seating seating(problem, start_of(problem));
    Pulse pulse(run, "greedy");
    while (improve_once(seating, pulse)) {
    }
    return Placement{seating.placement(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }

 private:
  /// One pass over the ranks; false when it brought no gain or the time is up.
  static bool improve_once(Seating& seating, Pulse& pulse) {
    bool gained = false;
    for (const Rank rank : seating.problem().graph.ranks()) {
      if (const Change change = best_change(seating, rank, pulse); seating.is_gain(change.delta)) {
        seating.apply(change);
        gained = true;
      }
      if (pulse.stopped()) return false;
    }
    return gained;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_greedy() {
  return std::make_unique<Greedy>();
}

}  // namespace rankloom
