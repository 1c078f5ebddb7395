// SPDX-License-Identifier: Apache-2.0
// map/baseline: the launchers' default order.
#include "rankloom/map/baseline/baselines.hpp"

namespace rankloom {
namespace {

class Block final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    return Placement{block_placement(problem.graph.rank_count(), problem.topology, problem.capacities), {}, {}};
  }
};

}  // namespace

std::unique_ptr<Mapper> make_block() {
  return std::make_unique<Block>();
}

}  // namespace rankloom
