// SPDX-License-Identifier: Apache-2.0
// map/local_search: improves any placement, large ones too, by exchanges and moves near each rank's partners.
#include "rankloom/map/local_search/local_searches.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"

namespace rankloom {
namespace {

class Refine final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    Seating seating(problem, start_of(problem));
    Pulse pulse(run, "refine");
    NeighbourhoodDescent(seating).run(pulse);
    return Placement{seating.placement(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }
};

}  // namespace

std::unique_ptr<Mapper> make_refine() {
  return std::make_unique<Refine>();
}

}  // namespace rankloom
