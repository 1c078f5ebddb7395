// SPDX-License-Identifier: Apache-2.0
// map/eager: from a placement by load to one without overloaded cores.
//
// First the overload goes: gently, rank by rank at the least cost; if that gets stuck, by exchanges that look at loads
// alone; if that gets stuck too, by a packing from scratch. Then exchanges and moves win back what that has cost, as
// far as the limit admits. Where the loads leave little freedom (two or three ranks a core, all different) this is not
// enough, and a search that may pass through overload and dearer placements tries for better.
#include "rankloom/map/eager/balance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/eager/annealing.hpp"
#include "rankloom/map/eager/relief.hpp"
#include "rankloom/map/eager/repack.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {
namespace {

constexpr double most_imbalance = 0.05;
constexpr double most_cost_increase = 0.1;
/// Sums of loads in another order differ by less.
constexpr double rounding = 1e-9;
/// Of one annealing: this many for each rank, but within these bounds; and none at all if that is too few for a rank.
constexpr std::uint64_t tries_a_rank = 1000;
constexpr std::uint64_t fewest_tries = 200'000;
constexpr std::uint64_t most_tries = 2'000'000;
constexpr std::uint64_t fewest_tries_a_rank = 100;
constexpr int most_attempts = 4;

struct Candidate {
  std::vector<Core> core_of;
  double cost = 0;  // an objective
};

class Balancing {
 public:
  Balancing(const MapProblem& problem, const MapRun& run, std::vector<Core> start)
      : problem_(problem), pulse_(run, "eager"), seed_(run.seed), start_(priced(std::move(start))) {
    bound_ = load_balance(problem.graph, problem.topology, start_.core_of).bound;
    limit_ = bound_ * (1 + most_imbalance) * (1 - rounding);
    for (const Rank rank : problem.graph.ranks()) loads_.push_back(problem.graph.load(rank));
    for (const Core core : problem.topology.cores()) {
      places_.push_back(problem.capacities[core]);
      unbounded_ &= places_.back() == 0 || places_.back() >= problem.graph.rank_count();
    }
  }

  /// `plain`: the groups by number, which know nothing of loads and are often cheaper.
  Placement run(std::vector<Core> plain) {
    const Candidate by_number = priced(std::move(plain));
    const double wanted = dearest_allowed(std::min(start_.cost, by_number.cost));
    const bool balanced = heaviest(start_.core_of) <= limit_;
    Candidate best = balanced ? start_ : refined(first_without_overload());
    const auto offer = [&](const std::optional<Candidate>& other) {
      if (other && other->cost < best.cost) best = *other;
    };
    if (best.cost > wanted && !pulse_.stop_now()) {
      if (const auto core_of = without_overload(by_number.core_of)) offer(refined(*core_of));
      if (best.cost > wanted && balanced) offer(refined(start_.core_of));
    }
    Random random(seed_);
    for (int attempt = 0; attempt < most_attempts && may_anneal(); ++attempt) {
      // The first two for a cost near the cheaper of the two starts, any more only for what is promised.
      if (best.cost <= (attempt < 2 ? wanted : dearest_allowed(start_.cost))) break;
      const Candidate& from = attempt % 2 == 0 ? start_ : by_number;
      offer(annealed(from.cost != 0 ? from : best, random));  // who pays nothing has no temperature
    }
    std::string remark = note(best);
    return {std::move(best.core_of), {}, std::move(remark)};
  }

 private:
  static double dearest_allowed(double cost) { return cost + most_cost_increase * std::abs(cost); }

  Candidate priced(std::vector<Core> core_of) const {
    const double value = evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
    return {std::move(core_of), objective(problem_.model, value)};
  }

  double heaviest(std::span<const Core> core_of) const {
    return load_balance(problem_.graph, problem_.topology, core_of).heaviest_core;
  }

  LoadLimit limited(const Seating& seating) const {
    return {problem_.graph, problem_.topology, seating.placement(), limit_};
  }

  std::uint64_t tries() const {
    return std::clamp<std::uint64_t>(tries_a_rank * loads_.size(), fewest_tries, most_tries);
  }

  bool may_anneal() {
    const bool local = problem_.model != CostModel::congestion;  // a try would look at whole routes
    return local && tries() >= fewest_tries_a_rank * loads_.size() && !pulse_.stop_now();
  }

  Candidate refined(const std::vector<Core>& core_of) {
    Seating seating(problem_, core_of);
    LoadLimit limit = limited(seating);
    NeighbourhoodDescent(seating, &limit).run(pulse_);
    return {seating.placement(), seating.cost()};
  }

  std::optional<Candidate> annealed(const Candidate& from, Random& random) {
    Seating rough(problem_, from.core_of);
    LoadLimit rough_limit = limited(rough);
    anneal(rough, rough_limit, Overload::priced, tries(), random, pulse_);
    const auto core_of = without_overload(rough.placement());
    if (!core_of) return std::nullopt;
    Seating seating(problem_, *core_of);
    LoadLimit limit = limited(seating);
    anneal(seating, limit, Overload::barred, tries(), random, pulse_);
    NeighbourhoodDescent(seating, &limit).run(pulse_);
    return Candidate{seating.placement(), seating.cost()};
  }

  /// The start without overload. Where no packing of the loads was found that keeps the limit, the limit becomes 5 %
  /// above the best one found, from now on.
  std::vector<Core> first_without_overload() {
    auto core_of = relieved(start_.core_of);
    const double load = repack(problem_.topology, problem_.capacities, loads_, places_, limit_, core_of);
    if (load <= limit_) return core_of;
    limit_ = load * (1 + most_imbalance) * (1 - rounding);
    return without_overload(start_.core_of).value_or(core_of);
  }

  /// From the gentlest way to the last resort; none when even that leaves a core above the limit.
  std::optional<std::vector<Core>> without_overload(const std::vector<Core>& from) {
    auto core_of = relieved(from);
    const double load = repack(problem_.topology, problem_.capacities, loads_, places_, limit_, core_of);
    if (load > limit_) return std::nullopt;
    return core_of;
  }

  std::vector<Core> relieved(const std::vector<Core>& from) {
    Seating seating(problem_, from);
    LoadLimit limit = limited(seating);
    relieve(seating, limit, pulse_);
    if (unbounded_ && heaviest(seating.placement()) > limit_) reseat_by_falling_load(seating, limit, pulse_);
    return seating.placement();
  }

  std::string note(const Candidate& best) const {
    if (pulse_.stopped()) return std::string(stopped_note);
    const double above = heaviest(best.core_of) / bound_ - 1;
    if (above > most_imbalance) {
      return fmt::format("found no packing of the loads within 5 %; the heaviest core is {:.1f} % above the bound",
                         100 * above);
    }
    if (best.cost > dearest_allowed(start_.cost)) {
      return start_.cost == 0 ? std::string("the placement by load costs nothing; the balance does")
                              : fmt::format("the balance costs {:.0f} % more than the placement by load",
                                            100 * (best.cost - start_.cost) / std::abs(start_.cost));
    }
    return {};
  }

  const MapProblem& problem_;
  Pulse pulse_;
  std::uint64_t seed_;
  Candidate start_;
  double bound_ = 0, limit_ = 0;
  std::vector<double> loads_;          // by rank
  std::vector<std::uint32_t> places_;  // by core
  bool unbounded_ = true;
};

}  // namespace

Placement balanced(const MapProblem& problem, const MapRun& run, std::vector<Core> by_load,
                   std::vector<Core> by_number) {
  return Balancing(problem, run, std::move(by_load)).run(std::move(by_number));
}

}  // namespace rankloom
