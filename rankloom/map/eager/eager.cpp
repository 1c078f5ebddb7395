// SPDX-License-Identifier: Apache-2.0
// map/eager: the mapper `eager`, EagerMap (Cruz 2019): greedy grouping of the tasks with the most communication, level
// by level from the cores up; then the groups are mapped to the machine from the top down. Groups are bounded by the
// number of tasks or by their load (section 3.4); load balancing afterwards is this project's addition.
#include <algorithm>
#include <functional>
#include <utility>

#include "rankloom/map/eager/eager_placement.hpp"
#include "rankloom/map/eager/load_balancing.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

bool loads_differ(std::span<const double> loads) {
  return std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) != loads.end();
}

class Eager final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.flag("load", load_, "bound each group by the load of its ranks, not by their number");
    options.flag("balance", balance_,
                 "then move and exchange ranks until no core is more than 5 % above the lower bound of the load");
  }

  bool balances_load() const override { return load_ || balance_; }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const auto loads = problem.graph.loads();
    const bool by_load = balances_load() && loads_differ(loads);
    std::vector<Core> by_number;
    if (!by_load || balance_)
      by_number = eager_placement(problem.graph, problem.topology, equal_capacities(problem), {});
    if (!by_load) return Placement{std::move(by_number), {}, balances_load() ? "all ranks have the same load" : ""};
    auto core_of = eager_placement(problem.graph, problem.topology, problem.capacities, loads);
    if (balance_) return balance_load(problem, run, std::move(core_of), std::move(by_number));
    return Placement{std::move(core_of), {}, {}};
  }

 private:
  /// Where cores are shared, every core gets the same number of ranks, even if its capacity is larger. Equal loads
  /// therefore give the same placement as no loads.
  static Capacities equal_capacities(const MapProblem& problem) {
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
