// SPDX-License-Identifier: Apache-2.0
// bench: Scotch as the published comparison at one rank a core ran it.
#include "bench/exact_scotch.hpp"

#include <limits>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/peers/scotch_target.hpp"
#include "rankloom/map/peers/whole_numbers.hpp"
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
    rows.weights = whole_numbers<ScotchNumber>(affinity.all_weights(), most_traffic);
    ScotchGraph graph(std::move(rows));
    ScotchStrategy strategy;
    if (SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATDEFAULT,
                                  static_cast<ScotchNumber>(target->place_of.size()), 0.0) != 0) {
      return scotch_failure("does not know the strategy");
    }
    auto terminal_of = scotch_map(session, graph, *target->arch, strategy);
    if (!terminal_of) return propagate(terminal_of);
    std::vector<Core> core_of;
    for (const ScotchNumber terminal : *terminal_of) {
      core_of.push_back(Core{target->place_of[static_cast<std::size_t>(terminal)]});
    }
    return Placement{repaired(problem, affinity, std::move(core_of)), {}, {}};
  }

 private:
  /// All traffic together times a distance must stay in Scotch's numbers.
  static constexpr double most_traffic = sizeof(ScotchNumber) > 4 ? 0x1p41 : 0x1p20;
};

}  // namespace

std::unique_ptr<Mapper> make_exact_scotch() {
  return std::make_unique<ExactScotch>();
}

}  // namespace rankloom::bench
