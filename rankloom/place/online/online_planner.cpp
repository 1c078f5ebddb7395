// SPDX-License-Identifier: Apache-2.0
// place/online: turns traffic windows into decisions to move ranks.
#include "rankloom/place/online/online_planner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "rankloom/map/local_search/migration_cost.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/cost/loads.hpp"

namespace rankloom {

namespace {

constexpr double nanosecond = 1e-9;
/// A smaller relative gain in load balance is measurement noise.
constexpr double min_load_gain = 0.05;
/// A load balance can look good in a few windows by chance, so this many later windows must confirm it.
constexpr std::size_t min_validation_windows = 4;

bool shares_cores(const Topology& topology, std::uint32_t ranks) {
  return ranks > topology.core_count();
}

}  // namespace

Result<std::vector<Core>> fast_mapping(const CommGraph& traffic, const Topology& topology,
                                       std::span<const Core> current) {
  const std::uint32_t ranks = traffic.rank_count();
  auto capacities = Capacities::of(topology, ranks, {.oversubscribe = true});
  if (!capacities) return propagate(capacities);
  const bool shared = shares_cores(topology, ranks);
  const MapRun run{};
  std::vector<Core> best;
  for (const char* const spec : {"eager", "refine"}) {
    const bool first = best.empty();
    auto mapper = make_mapper(first && shared ? "eager:balance=true" : spec);
    if (!mapper) return propagate(mapper);
    const MapProblem problem{traffic, topology, *capacities, CostModel::time, best};
    auto found = run_mapper(*mapper, problem, run, {.keep_worse = true});
    if (!found) return propagate(found);
    best.assign(found->mapping.cores().begin(), found->mapping.cores().end());
    // A mapping that balances loads may put any number of ranks on a core, while `refine` would equalise the numbers.
    if (shared) break;
  }
  const MapProblem problem_from_current{traffic, topology, *capacities, CostModel::time, current};
  return current.empty() ? best : permute_towards_start(problem_from_current, std::move(best));
}

double online_cost(const CommGraph& traffic, const Topology& topology, std::span<const Core> core_of) {
  double cost = evaluate(traffic, topology, core_of, CostModel::time) * nanosecond;
  if (shares_cores(topology, traffic.rank_count()) && !traffic.loads().empty()) {
    cost += load_balance(traffic, topology, core_of).heaviest_core * traffic.rank_count();
  }
  return cost;
}

double max_cost_ratio(const Topology& topology, std::span<const Core> from, std::span<const Core> to) {
  const auto ratio = [](double before, double after) {
    if (after <= before) return 1.0;
    return before > 0 ? after / before : std::numeric_limits<double>::infinity();
  };
  double max_ratio = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = 0; j < from.size(); ++j) {
      if (i == j || (from[i] == to[i] && from[j] == to[j])) continue;
      const Cost before = topology.cost(from[i], from[j]), after = topology.cost(to[i], to[j]);
      max_ratio = std::max(
          {max_ratio, ratio(before.inverse_bandwidth, after.inverse_bandwidth), ratio(before.latency, after.latency)});
    }
  }
  return max_ratio;
}

void CostHistory::add(const Point& point) {
  if (points_.empty() || windows_in_last_ == windows_per_point_) {
    if (points_.size() == max_points) merge_pairs();
    points_.push_back({});
    windows_in_last_ = 0;
  }
  points_.back() = {point.end, points_.back().cost_without_migration + point.cost_without_migration,
                    points_.back().online + point.online};
  ++windows_in_last_;
}

void CostHistory::merge_pairs() {
  for (std::size_t i = 0; i < max_points / 2; ++i) {
    const Point &first = points_[2 * i], &second = points_[2 * i + 1];
    points_[i] = {second.end, first.cost_without_migration + second.cost_without_migration,
                  first.online + second.online};
  }
  points_.resize(max_points / 2);
  windows_per_point_ *= 2;
}

std::optional<OnlineDecision> OnlinePlanner::add_window(const TrafficWindow& window) {
  ++windows_;
  const double online = online_cost(window.traffic, topology_, placement_);
  const double stayed = online_cost(window.traffic, topology_, start_);
  cost_online_ += online;
  cost_without_migration_ += stayed;
  history_.add({window.end, stayed, online});
  if (migrations_ > 0) last_move_loss_ += online - online_cost(window.traffic, topology_, previous_);
  // No rank communicates for longer than the window. Where cores are shared, the cost contains the CPU time, too.
  const bool shared = shares_cores(topology_, static_cast<std::uint32_t>(placement_.size()));
  const double max_seconds = (shared ? 2 : 1) * window.seconds() * static_cast<double>(placement_.size());
  max_window_cost_ = std::max({max_window_cost_, max_seconds, online});
  const bool phase_begins = detector_.add_window(window);
  validate_candidate(window);
  if (auto forced = forced_return(window)) {
    execute(*forced);
    return forced;
  }
  if (detector_.phases().empty() || window.traffic.edge_count() == 0) return std::nullopt;
  auto decision = decide(window, phase_begins);
  if (!decision) return std::nullopt;
  // The decision to stay is listed once per phase, not once per window.
  const bool repeated = !phase_begins && !decision->moves && !decisions_.empty() &&
                        decisions_.back().kind == decision->kind && !decisions_.back().moves &&
                        decisions_.back().moved == decision->moved;
  if (decision->moves) {
    execute(*decision);
  } else if (!repeated) {
    decisions_.push_back(*decision);
  }
  return decision;
}

void OnlinePlanner::execute(const OnlineDecision& decision) {
  if (migrations_ > 0) {
    // After a loss, the next move must promise more than twice as much as was lost.
    min_extra_gain_ = last_move_loss_ > 0 ? 2 * std::max(last_move_loss_, min_extra_gain_) : min_extra_gain_ / 2;
  }
  previous_ = std::exchange(placement_, decision.target);
  last_move_loss_ = decision.move_cost;
  loss_fraction_ = loss_fraction(placement_);
  for (Candidate& candidate : candidates_) {
    candidate.validation_windows = 0;
    candidate.validation_current_cost = candidate.validation_target_cost = 0;
  }
  cost_online_ += decision.move_cost;
  history_.add_move_cost(decision.move_cost);
  ++migrations_;
  decisions_.push_back(decision);
}

/// What moves may still lose.
double OnlinePlanner::loss_budget() const {
  if (std::isinf(options_.max_loss)) return options_.max_loss;
  return options_.max_loss * cost_without_migration_ - (cost_online_ - cost_without_migration_);
}

/// The part of the cost of any window that the initial placement would have saved, at most: in the initial placement
/// the window costs at least its cost divided by the largest ratio of costs.
double OnlinePlanner::loss_fraction(std::span<const Core> core_of) const {
  if (std::ranges::equal(core_of, start_)) return 0;
  constexpr std::size_t max_ranks = 2048;  // the ratio takes O(ranks²)
  if (shares_cores(topology_, static_cast<std::uint32_t>(core_of.size())) || core_of.size() > max_ranks) return 1;
  return 1 - 1 / max_cost_ratio(topology_, start_, core_of);
}

double OnlinePlanner::return_cost(std::span<const Core> core_of) const {
  return options_.move_seconds * static_cast<double>(moved_ranks(core_of, start_));
}

/// The way back to the initial placement, when another window in the current one could exceed the budget. The budget
/// covers its cost, because this was tested before the window.
std::optional<OnlineDecision> OnlinePlanner::forced_return(const TrafficWindow& window) const {
  if (std::ranges::equal(placement_, start_)) return std::nullopt;
  OnlineDecision decision = new_decision(window);
  decision.move_cost = return_cost(placement_);
  decision.possible_loss = loss_fraction_ * max_window_cost_ + decision.move_cost;
  if (decision.possible_loss <= decision.loss_budget) return std::nullopt;
  decision.moved = static_cast<std::uint32_t>(moved_ranks(placement_, start_));
  decision.target = start_;
  decision.moves = decision.returns_to_start = true;
  decision.reason = fmt::format("the loss could exceed {:.3g} % of the cost without moves in the next window",
                                100 * options_.max_loss);
  return decision;
}

OnlineDecision OnlinePlanner::new_decision(const TrafficWindow& window) const {
  OnlineDecision decision;
  decision.time = window.end;
  decision.window = windows_ - 1;
  decision.kind = detector_.phases().empty() ? 0 : detector_.phases().back().kind;
  decision.loss_budget = loss_budget();
  return decision;
}

std::optional<OnlineDecision> OnlinePlanner::decide(const TrafficWindow& window, bool phase_begins) {
  const OnlinePhase& phase = detector_.phases().back();
  const CommGraph& traffic = detector_.traffic(phase.kind);
  OnlineDecision decision = new_decision(window);
  if (candidates_.size() <= phase.kind) candidates_.resize(phase.kind + 1);
  Candidate& candidate = candidates_[phase.kind];
  const auto compute_mapping = [&] {
    const auto begin = std::chrono::steady_clock::now();
    auto mapping = fast_mapping(traffic, topology_, placement_);
    decision.mapper_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!mapping) return false;
    const double fraction = loss_fraction(*mapping);
    candidate = {*std::move(mapping), detector_.windows(phase.kind), decision.mapper_seconds, fraction, 0, 0, 0};
    return true;
  };
  // To see whether a move may pay, it is enough to compute a mapping whenever the traffic of the phase has doubled.
  const bool shared = shares_cores(topology_, traffic.rank_count());
  const bool stale =
      candidate.core_of.empty() || detector_.windows(phase.kind) >= 2 * candidate.windows || (phase_begins && !shared);
  if (stale && !compute_mapping()) return std::nullopt;
  evaluate_move(decision, candidate.core_of, candidate.loss_fraction, traffic);
  // A move uses a mapping for all of the traffic so far.
  if (decision.moves && !shared && candidate.windows != detector_.windows(phase.kind)) {
    if (!compute_mapping()) return std::nullopt;
    evaluate_move(decision, candidate.core_of, candidate.loss_fraction, traffic);
  }
  // The initial placement is the choice of the user, so it is restored where its net gain is larger.
  OnlineDecision restore = decision;
  restore.returns_to_start = true;
  evaluate_move(restore, start_, 0, traffic);
  if (restore.moves && restore.gain - restore.move_cost > (decision.moves ? decision.gain - decision.move_cost : 0)) {
    decision = std::move(restore);
  }
  const bool noise = is_within_noise(decision);
  if (decision.moved == 0) {
    decision.reason = "every rank is already where the mapper puts it";
  } else if (decision.gain <= 0) {
    decision.reason = "the mapper finds no better placement";
  } else {
    decision.reason =
        fmt::format("the expected gain in {:.2g} s is {:.3g} ms, {} moves cost {:.3g} ms", decision.remaining_seconds,
                    1e3 * decision.gain, decision.moved, 1e3 * decision.move_cost);
    if (decision.min_gain > decision.move_cost)
      decision.reason +=
          fmt::format("; after moves that lost, the gain must exceed {:.3g} ms", 1e3 * decision.min_gain);
    if (decision.possible_loss > decision.loss_budget)
      decision.reason += fmt::format("; the move may lose {:.3g} ms, and moves may lose {:.3g} ms so far",
                                     1e3 * decision.possible_loss, 1e3 * std::max(0.0, decision.loss_budget));
    if (!disabled_reason_.empty()) decision.reason += "; " + disabled_reason_;
    if (noise) decision.reason += "; the gain is within the noise of the loads, or not confirmed yet";
  }
  return decision;
}

/// Where cores are shared, a mapping is compared with the current placement on windows that it was not computed from.
void OnlinePlanner::validate_candidate(const TrafficWindow& window) {
  if (detector_.phases().empty() || !shares_cores(topology_, window.traffic.rank_count())) return;
  const std::size_t kind = detector_.phases().back().kind;
  if (kind >= candidates_.size() || candidates_[kind].core_of.empty()) return;
  Candidate& candidate = candidates_[kind];
  ++candidate.validation_windows;
  candidate.validation_current_cost += online_cost(window.traffic, topology_, placement_);
  candidate.validation_target_cost += online_cost(window.traffic, topology_, candidate.core_of);
}

/// Whether the gain is not larger than the variation of the loads.
bool OnlinePlanner::is_within_noise(const OnlineDecision& decision) const {
  if (!shares_cores(topology_, static_cast<std::uint32_t>(placement_.size()))) return false;
  if (decision.current_cost - decision.target_cost < min_load_gain * decision.current_cost) return true;
  const Candidate& candidate = candidates_[decision.kind];
  return !decision.returns_to_start && (candidate.validation_windows < min_validation_windows ||
                                        candidate.validation_current_cost - candidate.validation_target_cost <
                                            min_load_gain * candidate.validation_current_cost);
}

/// Computes the gain and the cost of moving to a target.
void OnlinePlanner::evaluate_move(OnlineDecision& decision, std::span<const Core> target, double target_loss_fraction,
                                  const CommGraph& traffic) const {
  const double seconds = detector_.seconds(decision.kind);
  decision.target.assign(target.begin(), target.end());
  decision.current_cost = online_cost(traffic, topology_, placement_) / seconds;
  decision.target_cost = online_cost(traffic, topology_, target) / seconds;
  decision.remaining_seconds = detector_.expected_remaining_seconds();
  decision.moved = static_cast<std::uint32_t>(moved_ranks(placement_, target));
  decision.transition_cost =
      decision.moved > 0 ? cost_after_phase(decision.kind, target) - cost_after_phase(decision.kind, placement_) : 0;
  decision.gain =
      (decision.current_cost - decision.target_cost) * decision.remaining_seconds - decision.transition_cost;
  decision.move_cost = decision.moved * options_.move_seconds;
  // The way back to the initial placement ends a loss, so earlier losses do not delay it.
  decision.min_gain = decision.move_cost + (decision.returns_to_start ? 0 : min_extra_gain_);
  decision.possible_loss = 0;
  decision.moves =
      decision.moved > 0 && decision.gain > decision.min_gain && !is_within_noise(decision) && disabled_reason_.empty();
  if (!decision.moves) return;
  decision.possible_loss = decision.move_cost + target_loss_fraction * max_window_cost_ + return_cost(target);
  decision.moves = decision.possible_loss <= decision.loss_budget;
}

/// When a phase ends, the ranks keep its placement until the next phase is detected. This is the expected cost of that
/// time. The kind of the next phase is unknown, so other kinds are weighted by how often they have occurred.
double OnlinePlanner::cost_after_phase(std::size_t kind, std::span<const Core> core_of) const {
  double cost = 0, total_occurrences = 0;
  for (std::size_t other = 0; other < detector_.kinds(); ++other) {
    if (other == kind || detector_.seconds(other) <= 0) continue;
    const auto occurrences = static_cast<double>(detector_.occurrences(other));
    cost += occurrences * online_cost(detector_.traffic(other), topology_, core_of) / detector_.seconds(other);
    total_occurrences += occurrences;
  }
  return total_occurrences > 0 ? detector_.mean_detection_seconds() * cost / total_occurrences : 0;
}

}  // namespace rankloom
