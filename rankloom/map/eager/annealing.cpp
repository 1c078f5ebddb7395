// SPDX-License-Identifier: Apache-2.0
// map/eager: simulated annealing with a load limit.
#include "rankloom/map/eager/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rankloom/core/portable_math.hpp"
#include "rankloom/map/local_search/neighbourhood.hpp"

namespace rankloom {
namespace {

/// Temperatures relative to the average cost per rank: high enough to cross the barriers between good placements while
/// overload is only penalised; lower where it is forbidden and the placement is already good.
constexpr double initial_temperature_penalised = 0.3;
constexpr double initial_temperature_forbidden = 0.15;
constexpr double final_temperature = 0.003;
/// The penalty for an overload of one average rank, relative to the average cost per rank.
constexpr double initial_penalty = 2;
constexpr double final_penalty = 1000;
constexpr std::uint64_t temperature_steps = 200;
/// The fractions of trials whose target is any core, or a core with a similar number. The others are close to a
/// partner.
constexpr double any_core_fraction = 0.2;
constexpr double similar_number_fraction = 0.2;
constexpr std::uint32_t window = 32;

class Annealing {
 public:
  Annealing(PlacementState& state, LoadLimit& limit, Overload overload, Random& random)
      : state_(state),
        limit_(limit),
        overload_(overload),
        random_(random),
        neighbourhood_(state.problem().topology),
        cores_(state.problem().topology.core_count()) {}

  void run(std::uint64_t trials, StopCondition& stop_condition) {
    const double cost_of_rank = std::abs(state_.cost()) / state_.rank_count();
    const double load_of_rank = limit_.limit() * cores_ / state_.rank_count();
    const double initial =
        overload_ == Overload::penalised ? initial_temperature_penalised : initial_temperature_forbidden;
    for (std::uint64_t step = 0; step < temperature_steps && !stop_condition.stopped(); ++step) {
      const double progress = static_cast<double>(step) / (temperature_steps - 1);
      temperature_ = cost_of_rank * initial * portable_pow(final_temperature / initial, progress);
      penalty_ =
          cost_of_rank / load_of_rank * initial_penalty * portable_pow(final_penalty / initial_penalty, progress);
      for (std::uint64_t tried = 0; tried < trials / temperature_steps && !stop_condition.should_stop(); ++tried)
        try_change();
    }
  }

 private:
  void try_change() {
    const Rank rank{static_cast<std::uint32_t>(random_.below(state_.rank_count()))};
    const Core core = draw_core(rank);
    if (core == state_.core_of(rank) || state_.problem().capacities[core] == 0) return;
    const auto partner = draw_partner(core);
    if (!partner && !state_.has_free_slot(core)) return;
    if (overload_ == Overload::forbidden &&
        !(partner ? limit_.admits_exchange(rank, *partner, state_) : limit_.admits_move(rank, core))) {
      return;
    }
    const Change change = partner ? state_.try_exchange(rank, *partner) : state_.try_move(rank, core);
    double increase = change.delta;
    if (overload_ == Overload::penalised) increase += penalty_ * limit_.overload_delta(change, state_);
    if (increase > 0 && !is_accepted(increase / temperature_)) return;
    limit_.apply(change, state_);
    state_.apply(change);
  }

  /// Accepts with the probability exp(-ratio), which is at least 1 - ratio and at most 1 / (1 + ratio + ratio² / 2);
  /// these bounds decide most trials.
  bool is_accepted(double ratio) {
    const double chance = random_.unit();
    if (chance < 1 - ratio) return true;
    if (chance * (1 + ratio + ratio * ratio / 2) >= 1) return false;
    return chance < portable_exp(-ratio);
  }

  Core draw_core(Rank rank) {
    const Core current = state_.core_of(rank);
    const auto partners = state_.neighbours(rank);
    const double choice = random_.unit();
    if (choice < any_core_fraction || partners.empty()) return Core{static_cast<std::uint32_t>(random_.below(cores_))};
    if (choice < any_core_fraction + similar_number_fraction) {
      const std::uint32_t first = index(current) / window * window;
      return Core{first + static_cast<std::uint32_t>(random_.below(std::min(window, cores_ - first)))};
    }
    regions_.clear();
    neighbourhood_.regions(current, state_.core_of(partners[random_.below(partners.size())]), regions_);
    if (regions_.empty()) return current;
    candidates_.clear();
    // A separate statement, because the order in which arguments are evaluated is unspecified.
    const auto region = regions_[random_.below(regions_.size())];
    neighbourhood_.cores(region, random_.next(), candidates_);
    return candidates_.empty() ? current : candidates_[random_.below(candidates_.size())];
  }

  /// A random rank of the core, or none: the change is then a move.
  std::optional<Rank> draw_partner(Core core) {
    std::uint64_t count = 0;
    for (auto rank = state_.first_on(core); rank; rank = state_.next_on_core(*rank)) ++count;
    auto rank = state_.first_on(core);
    for (std::uint64_t skip = random_.below(count + 1); rank && skip > 0; --skip) rank = state_.next_on_core(*rank);
    return rank;
  }

  PlacementState& state_;
  LoadLimit& limit_;
  Overload overload_;
  Random& random_;
  Neighbourhood neighbourhood_;
  std::uint32_t cores_;
  double temperature_ = 0, penalty_ = 0;
  std::vector<Neighbourhood::Region> regions_;  // scratch
  std::vector<Core> candidates_;                // scratch
};

}  // namespace

void anneal(PlacementState& state, LoadLimit& limit, Overload overload, std::uint64_t trials, Random& random,
            StopCondition& stop_condition) {
  if (state.rank_count() > 0) Annealing(state, limit, overload, random).run(trials, stop_condition);
}

}  // namespace rankloom
