// SPDX-License-Identifier: Apache-2.0
// bench/auto: Scotch as in the published comparison with one rank per core.
#include "bench/auto/exact_scotch.hpp"

#include <limits>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/external/integer_weights.hpp"
#include "rankloom/map/external/scotch_target.hpp"
#include "rankloom/map/repair.hpp"

namespace rankloom::bench {
namespace {

class ExactScotch final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    ScotchSession session(run.seed);
    const MachineTree tree(problem.topology, problem.capacities);
    const Affinity affinity(problem.graph);
    auto target = scotch_cores(session, problem, tree, tree.root(), std::numeric_limits<std::uint64_t>::max());
    if (!target) return propagate(target);
    ScotchGraph::Rows rows;
    rows.offsets.assign(affinity.offsets().begin(), affinity.offsets().end());
    rows.neighbours.assign(affinity.all_neighbours().begin(), affinity.all_neighbours().end());
    rows.weights = integer_weights<ScotchNumber>(affinity.all_weights(), max_traffic);
    ScotchGraph graph(std::move(rows));
    ScotchStrategy strategy;
    if (SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATDEFAULT,
                                  static_cast<ScotchNumber>(target->location_of.size()), 0.0) != 0) {
      return scotch_failure("rejected the mapping strategy");
    }
    auto terminal_of = scotch_map(session, graph, *target->arch, strategy);
    if (!terminal_of) return propagate(terminal_of);
    std::vector<Core> core_of;
    for (const ScotchNumber terminal : *terminal_of) {
      core_of.push_back(Core{target->location_of[static_cast<std::size_t>(terminal)]});
    }
    return Placement{repair_placement(problem, affinity, std::move(core_of)), {}, {}};
  }

 private:
  /// The total traffic times a distance must fit into SCOTCH_Num.
  static constexpr double max_traffic = sizeof(ScotchNumber) > 4 ? 0x1p41 : 0x1p20;
};

}  // namespace

std::unique_ptr<Mapper> make_exact_scotch() {
  return std::make_unique<ExactScotch>();
}

}  // namespace rankloom::bench
