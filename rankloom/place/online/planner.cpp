// SPDX-License-Identifier: Apache-2.0
// place/online: windows in, moves out.
#include "rankloom/place/online/planner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/map/local_search/move_price.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/cost_model.hpp"
#include "rankloom/model/load_balance.hpp"

namespace rankloom {

namespace {

constexpr double nanosecond = 1e-9;
/// Less of a difference in work between cores is what the clock makes, not the program.
constexpr double least_load_gain = 0.05;
/// Who shares a core with whom looks good for the work of some windows by mere chance: the next ones tell.
constexpr std::size_t windows_to_prove = 4;

bool shares_cores(const Topology& topology, std::uint32_t ranks) {
  return ranks > topology.core_count();
}

}  // namespace

Result<std::vector<Core>> fast_mapping(const CommGraph& traffic, const Topology& topology, std::span<const Core> now) {
  const std::uint32_t ranks = traffic.rank_count();
  auto slots = Capacities::of(topology, ranks, {.oversubscribe = true});
  if (!slots) return propagate(slots);
  const bool shared = shares_cores(topology, ranks);
  const MapRun run{};
  std::vector<Core> best;
  for (const char* const spec : {"eager", "refine"}) {
    const bool first = best.empty();
    auto mapper = make_mapper(first && shared ? "eager:balance=true" : spec);
    if (!mapper) return propagate(mapper);
    const MapProblem problem{traffic, topology, *slots, CostModel::time, best};
    auto found = run_mapper(*mapper, problem, run, {.keep_worse = true});
    if (!found) return propagate(found);
    best.assign(found->mapping.cores().begin(), found->mapping.cores().end());
    // What balances loads may put any number of ranks on a core; `refine` would count heads again.
    if (shared) break;
  }
  const MapProblem from_now{traffic, topology, *slots, CostModel::time, now};
  return now.empty() ? best : renamed_towards_start(from_now, std::move(best));
}

double online_cost(const CommGraph& traffic, const Topology& topology, std::span<const Core> core_of) {
  double cost = evaluate(traffic, topology, core_of, CostModel::time) * nanosecond;
  if (shares_cores(topology, traffic.rank_count()) && !traffic.loads().empty()) {
    cost += load_balance(traffic, topology, core_of).heaviest_core * traffic.rank_count();
  }
  return cost;
}

std::optional<OnlineDecision> OnlinePlanner::take(const OnlineWindow& window) {
  ++windows_;
  const double online = online_cost(window.traffic, topology_, now_);
  const double stayed = online_cost(window.traffic, topology_, start_);
  cost_online_ += online;
  cost_stayed_ += stayed;
  history_.add({window.end, stayed, online});
  const bool is_new = finder_.take(window);
  prove(window);
  if (finder_.phases().empty() || window.traffic.edge_count() == 0) return std::nullopt;
  auto decision = decide(window, is_new);
  if (!decision) return std::nullopt;
  if (decision->moves) {
    now_ = decision->target;
    for (Target& target : targets_) target.proved_windows = 0, target.proof_now = target.proof_there = 0;
    cost_online_ += decision->price;
    history_.add_price(decision->price);
    ++bursts_;
  }
  // A phase that goes on and is let alone says the same each time: once is enough.
  const bool same = !is_new && !decision->moves && !decisions_.empty() && decisions_.back().kind == decision->kind &&
                    !decisions_.back().moves && decisions_.back().moved == decision->moved;
  if (!same) decisions_.push_back(*decision);
  return decision;
}

std::optional<OnlineDecision> OnlinePlanner::decide(const OnlineWindow& window, bool is_new) {
  const OnlinePhase& phase = finder_.phases().back();
  const CommGraph& traffic = finder_.traffic(phase.kind);
  OnlineDecision decision;
  decision.time = window.end;
  decision.window = windows_ - 1;
  decision.kind = phase.kind;
  if (targets_.size() <= phase.kind) targets_.resize(phase.kind + 1);
  Target& target = targets_[phase.kind];
  const auto map_anew = [&] {
    const auto begin = std::chrono::steady_clock::now();
    auto found = fast_mapping(traffic, topology_, now_);
    decision.mapper_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (found) target = {*std::move(found), finder_.windows(phase.kind), decision.mapper_seconds, 0, 0, 0};
    return found.has_value();
  };
  // What is known of a phase grows with it; a mapping for each doubling is enough to see whether a move may pay,
  const bool shared = shares_cores(topology_, traffic.rank_count());
  const bool stale = target.core_of.empty() || finder_.windows(phase.kind) >= 2 * target.windows || (is_new && !shared);
  if (stale && !map_anew()) return std::nullopt;
  weigh(decision, target.core_of, traffic);
  // but who moves shall move to what is best by all that is known.
  if (decision.moves && !shared && target.windows != finder_.windows(phase.kind)) {
    if (!map_anew()) return std::nullopt;
    weigh(decision, target.core_of, traffic);
  }
  // The start is what the user chose: where it serves this phase and those after it better, back.
  OnlineDecision home = decision;
  home.back = true;
  weigh(home, start_, traffic);
  if (home.moves && home.gain - home.price > (decision.moves ? decision.gain - decision.price : 0)) {
    decision = std::move(home);
  }
  const bool noise = is_noise(decision);
  if (decision.moved == 0) {
    decision.why = "every rank is where the mapper would put it";
  } else if (decision.gain <= 0) {
    decision.why = "the mapper finds nothing better";
  } else {
    decision.why = fmt::format("{:.3g} ms to gain in {:.2g} s, {:.3g} ms for {} moves", 1e3 * decision.gain,
                               decision.rest, 1e3 * decision.price, decision.moved);
    if (!stay_.empty()) decision.why += "; " + stay_;
    if (noise) decision.why += "; less than loads vary, or not proved yet";
  }
  return decision;
}

/// Where cores are shared, a target is compared with what is on windows that it was not made of.
void OnlinePlanner::prove(const OnlineWindow& window) {
  if (finder_.phases().empty() || !shares_cores(topology_, window.traffic.rank_count())) return;
  const std::size_t kind = finder_.phases().back().kind;
  if (kind >= targets_.size() || targets_[kind].core_of.empty()) return;
  Target& target = targets_[kind];
  ++target.proved_windows;
  target.proof_now += online_cost(window.traffic, topology_, now_);
  target.proof_there += online_cost(window.traffic, topology_, target.core_of);
}

/// The gain is no more than loads vary.
bool OnlinePlanner::is_noise(const OnlineDecision& decision) const {
  if (!shares_cores(topology_, static_cast<std::uint32_t>(now_.size()))) return false;
  if (decision.cost_now - decision.cost_target < least_load_gain * decision.cost_now) return true;
  const Target& target = targets_[decision.kind];
  return !decision.back && (target.proved_windows < windows_to_prove ||
                            target.proof_now - target.proof_there < least_load_gain * target.proof_now);
}

/// What moving to the target would gain and cost.
void OnlinePlanner::weigh(OnlineDecision& decision, std::span<const Core> target, const CommGraph& traffic) const {
  const double seconds = finder_.seconds(decision.kind);
  decision.target.assign(target.begin(), target.end());
  decision.cost_now = online_cost(traffic, topology_, now_) / seconds;
  decision.cost_target = online_cost(traffic, topology_, target) / seconds;
  decision.rest = finder_.expected_rest();
  decision.moved = static_cast<std::uint32_t>(moved_ranks(now_, target));
  decision.after = decision.moved > 0 ? cost_after(decision.kind, target) - cost_after(decision.kind, now_) : 0;
  decision.gain = (decision.cost_now - decision.cost_target) * decision.rest - decision.after;
  decision.price = decision.moved * options_.move_seconds;
  decision.moves = decision.moved > 0 && decision.gain > decision.price && !is_noise(decision) && stay_.empty();
}

/// When a phase ends, everybody is still where it suited that one, until the next is found. Which one comes is not
/// known: of those that have been, each as often as it has been.
double OnlinePlanner::cost_after(std::size_t kind, std::span<const Core> core_of) const {
  double cost = 0, times = 0;
  for (std::size_t other = 0; other < finder_.kinds(); ++other) {
    if (other == kind || finder_.seconds(other) <= 0) continue;
    const auto often = static_cast<double>(finder_.times(other));
    cost += often * online_cost(finder_.traffic(other), topology_, core_of) / finder_.seconds(other);
    times += often;
  }
  return times > 0 ? finder_.found_after_seconds() * cost / times : 0;
}

}  // namespace rankloom
