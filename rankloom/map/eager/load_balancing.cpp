// SPDX-License-Identifier: Apache-2.0
// map/eager: load balancing after the load-aware grouping.
//
// First the overload is removed: rank by rank at the lowest cost; if that fails, by exchanges that consider the loads
// alone; if that fails too, by a new packing. Then a neighbourhood descent within the load limit reduces the cost
// again. Where the loads leave little freedom (two or three different ranks per core) this is not enough; simulated
// annealing, which may pass through overload and higher cost, then searches for a better placement.
#include "rankloom/map/eager/load_balancing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/map/eager/annealing.hpp"
#include "rankloom/map/eager/overload_removal.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {
namespace {

constexpr double max_imbalance = 0.05;
constexpr double max_cost_increase = 0.1;
/// Larger than the rounding errors of load sums that were added in a different order.
constexpr double rounding = 1e-9;
/// The trials of one annealing are proportional to the ranks, within bounds. Annealing is skipped if the upper bound
/// leaves fewer than the minimum per rank.
constexpr std::uint64_t trials_per_rank = 1000;
constexpr std::uint64_t min_trials = 200'000;
constexpr std::uint64_t max_trials = 2'000'000;
constexpr std::uint64_t min_trials_per_rank = 100;
constexpr int max_attempts = 4;

struct Candidate {
  std::vector<Core> core_of;
  double cost = 0;  // the objective: smaller is better
};

class LoadBalancing {
 public:
  LoadBalancing(const MapProblem& problem, const MapRun& run, std::vector<Core> start)
      : problem_(problem), stop_condition_(run, "eager"), seed_(run.seed), start_(evaluated(std::move(start))) {
    bound_ = load_balance(problem.graph, problem.topology, start_.core_of).lower_bound;
    limit_ = bound_ * (1 + max_imbalance) * (1 - rounding);
    for (const Rank rank : problem.graph.ranks()) loads_.push_back(problem.graph.load(rank));
    for (const Core core : problem.topology.cores()) {
      max_ranks_.push_back(problem.capacities[core]);
      unlimited_ranks_ &= max_ranks_.back() == 0 || max_ranks_.back() >= problem.graph.rank_count();
    }
  }

  /// `by_number`: the placement that groups by number of ranks. It ignores the loads and often has a lower cost.
  Placement run(std::vector<Core> by_number_core_of) {
    const Candidate by_number = evaluated(std::move(by_number_core_of));
    const double wanted_cost = max_allowed_cost(std::min(start_.cost, by_number.cost));
    const bool balanced = max_core_load(start_.core_of) <= limit_;
    Candidate best = balanced ? start_ : descend(remove_overload_of_start());
    const auto offer = [&](const std::optional<Candidate>& other) {
      if (other && other->cost < best.cost) best = *other;
    };
    if (best.cost > wanted_cost && !stop_condition_.should_stop_now()) {
      if (const auto core_of = remove_overload(by_number.core_of)) offer(descend(*core_of));
      if (best.cost > wanted_cost && balanced) offer(descend(start_.core_of));
    }
    Random random(seed_);
    for (int attempt = 0; attempt < max_attempts && may_anneal(); ++attempt) {
      // The first two attempts aim at the cheaper of the two starts, later ones only at the cost of the load-aware
      // start.
      if (best.cost <= (attempt < 2 ? wanted_cost : max_allowed_cost(start_.cost))) break;
      const Candidate& from = attempt % 2 == 0 ? start_ : by_number;
      offer(run_annealing(from.cost != 0 ? from : best, random));  // The cost scales the temperature, so it is not 0.
    }
    std::string text = note(best);
    return {std::move(best.core_of), {}, std::move(text)};
  }

 private:
  static double max_allowed_cost(double cost) { return cost + max_cost_increase * std::abs(cost); }

  Candidate evaluated(std::vector<Core> core_of) const {
    const double value = evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
    return {std::move(core_of), objective(problem_.model, value)};
  }

  double max_core_load(std::span<const Core> core_of) const {
    return load_balance(problem_.graph, problem_.topology, core_of).heaviest_core;
  }

  LoadLimit load_limit(const PlacementState& state) const {
    return {problem_.graph, problem_.topology, state.placement(), limit_};
  }

  std::uint64_t trials() const {
    return std::clamp<std::uint64_t>(trials_per_rank * loads_.size(), min_trials, max_trials);
  }

  bool may_anneal() {
    const bool local =
        problem_.model != CostModel::congestion;  // congestion would make every trial evaluate whole routes
    return local && trials() >= min_trials_per_rank * loads_.size() && !stop_condition_.should_stop_now();
  }

  Candidate descend(const std::vector<Core>& core_of) {
    PlacementState state(problem_, core_of);
    LoadLimit limit = load_limit(state);
    NeighbourhoodDescent(state, &limit).run(stop_condition_);
    return {state.placement(), state.cost()};
  }

  std::optional<Candidate> run_annealing(const Candidate& from, Random& random) {
    PlacementState overloaded(problem_, from.core_of);
    LoadLimit overloaded_limit = load_limit(overloaded);
    anneal(overloaded, overloaded_limit, Overload::penalised, trials(), random, stop_condition_);
    const auto core_of = remove_overload(overloaded.placement());
    if (!core_of) return std::nullopt;
    PlacementState state(problem_, *core_of);
    LoadLimit limit = load_limit(state);
    anneal(state, limit, Overload::forbidden, trials(), random, stop_condition_);
    NeighbourhoodDescent(state, &limit).run(stop_condition_);
    return Candidate{state.placement(), state.cost()};
  }

  /// The start without overload. If no packing within the limit is found, the limit is raised to 5 % above the best
  /// packing found, for the rest of the run.
  std::vector<Core> remove_overload_of_start() {
    auto core_of = offload(start_.core_of);
    const double load =
        repack_overloaded_parts(problem_.topology, problem_.capacities, loads_, max_ranks_, limit_, core_of);
    if (load <= limit_) return core_of;
    limit_ = load * (1 + max_imbalance) * (1 - rounding);
    return remove_overload(start_.core_of).value_or(core_of);
  }

  /// First by moves at low cost, then by repacking; empty when a core stays above the limit.
  std::optional<std::vector<Core>> remove_overload(const std::vector<Core>& from) {
    auto core_of = offload(from);
    const double load =
        repack_overloaded_parts(problem_.topology, problem_.capacities, loads_, max_ranks_, limit_, core_of);
    if (load > limit_) return std::nullopt;
    return core_of;
  }

  std::vector<Core> offload(const std::vector<Core>& from) {
    PlacementState state(problem_, from);
    LoadLimit limit = load_limit(state);
    offload_overloaded_cores(state, limit, stop_condition_);
    if (unlimited_ranks_ && max_core_load(state.placement()) > limit_) {
      reassign_by_decreasing_load(state, limit, stop_condition_);
    }
    return state.placement();
  }

  std::string note(const Candidate& best) const {
    if (stop_condition_.stopped()) return std::string(stopped_note);
    const double imbalance = max_core_load(best.core_of) / bound_ - 1;
    if (imbalance > max_imbalance) {
      return fmt::format("no packing of the loads within 5 % found; the largest core load is {} above the bound",
                         percent(100 * imbalance));
    }
    if (best.cost > max_allowed_cost(start_.cost)) {
      return start_.cost == 0
                 ? std::string("the balanced placement costs more than the unbalanced one, whose cost is 0")
                 : fmt::format("compared with the unbalanced placement, the balanced one costs {}",
                               change(start_.cost, best.cost));
    }
    return {};
  }

  const MapProblem& problem_;
  StopCondition stop_condition_;
  std::uint64_t seed_;
  Candidate start_;
  double bound_ = 0, limit_ = 0;
  std::vector<double> loads_;             // by rank
  std::vector<std::uint32_t> max_ranks_;  // by core
  bool unlimited_ranks_ = true;           // no usable core limits the number of its ranks
};

}  // namespace

Placement balance_load(const MapProblem& problem, const MapRun& run, std::vector<Core> by_load,
                       std::vector<Core> by_number) {
  return LoadBalancing(problem, run, std::move(by_load)).run(std::move(by_number));
}

}  // namespace rankloom
