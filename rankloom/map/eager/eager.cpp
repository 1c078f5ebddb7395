// SPDX-License-Identifier: Apache-2.0
// map/eager: EagerMap (Cruz 2019): greedy groups of those who talk most, level by level from the cores up, laid on the
// machine from the top down. By number of tasks, by load (section 3.4), or by load and then balanced, which is ours.
#include "rankloom/map/eager/eager.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "rankloom/map/eager/balance.hpp"
#include "rankloom/map/eager/machines.hpp"

namespace rankloom {
namespace {

/// Equal loads say nothing.
bool loads_differ(std::span<const double> loads) {
  return std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) != loads.end();
}

class Eager final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.flag("load", load_, "bound each group by the load of its ranks, not by their number");
    options.flag("balance", balance_,
                 "then move and exchange ranks until no core is 5 % above the least possible load");
  }

  bool balances_load() const override { return load_ || balance_; }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const auto loads = problem.graph.loads();
    const bool by_load = balances_load() && loads_differ(loads);
    std::vector<Core> by_number;
    if (!by_load || balance_) by_number = eager_placement(problem.graph, problem.topology, fair_slots(problem), {});
    if (!by_load) return Placement{std::move(by_number), {}, balances_load() ? "all ranks have the same load" : ""};
    auto core_of = eager_placement(problem.graph, problem.topology, problem.capacities, loads);
    if (balance_) return balanced(problem, run, std::move(core_of), std::move(by_number));
    return Placement{std::move(core_of), {}, {}};
  }

 private:
  /// Where cores are shared, each place gets its fair share and no more, whatever else the capacities allow: so equal loads
  /// give the same as none.
  static Capacities fair_slots(const MapProblem& problem) {
    auto capacities = Capacities::of(problem.topology, problem.graph.rank_count(), {.oversubscribe = true});
    return capacities ? *std::move(capacities) : problem.capacities;
  }

  bool load_ = false;
  bool balance_ = false;
};

}  // namespace

std::unique_ptr<Mapper> make_eager() {
  return std::make_unique<Eager>();
}

}  // namespace rankloom
