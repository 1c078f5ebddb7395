// SPDX-License-Identifier: Apache-2.0
// allocate: the policy closed-fit. A set of nodes costs its nodes for as long as the job runs on them. `balanced`
// minimises packing cost x run time^0.3: a set that shortens the job by 10 % may take 3 % more nodes from others. The
// exponent was chosen by replays (docs/algorithms/closed-fit.md). A job that has to leave
// headroom gets a set only if an isolated set of this size remains.
#include "rankloom/allocate/closed_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/portable_math.hpp"

namespace rankloom {

namespace {

/// Smaller differences of a value are not worth a worse second value.
constexpr double resolution = 0.005;
/// Of the run time, in the product with the packing cost.
constexpr double run_time_exponent = 0.3;

using Score = std::pair<double, double>;

/// What `balanced` minimises.
double balanced_cost(const ScoredSet& set) {
  return set.run_time > 0 ? set.packing_cost * portable_pow(set.run_time, run_time_exponent) : 0;
}

/// Values that differ by less than the resolution become equal.
double rounded(double value, double smallest) {
  return smallest > 0 ? std::floor((value / smallest - 1) / resolution) : value;
}

std::vector<Score> scores(const std::vector<ScoredSet>& sets, Prefer prefer) {
  const auto smallest = [&](auto field) {
    double least = sets[0].*field;
    for (const ScoredSet& set : sets) least = std::min(least, set.*field);
    return least;
  };
  const double fastest = smallest(&ScoredSet::run_time), tightest = smallest(&ScoredSet::packing_cost);
  std::vector<Score> result;
  for (const ScoredSet& set : sets) {
    switch (prefer) {
      case Prefer::balanced:
        result.emplace_back(balanced_cost(set), set.run_time);
        break;
      case Prefer::job:
        result.emplace_back(rounded(set.run_time, fastest), set.packing_cost);
        break;
      case Prefer::packing:
        result.emplace_back(rounded(set.packing_cost, tightest), set.run_time);
        break;
    }
  }
  return result;
}

/// The isolated set of nodes that remains free.
class HeadroomRule {
 public:
  HeadroomRule(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t size)
      : allocator_(allocator), occupancy_(occupancy), size_(size) {}

  /// False if no set of n nodes can leave the headroom.
  bool is_possible(std::uint32_t nodes) const {
    if (size_ == 0) return true;
    return occupancy_.free_count() >= std::uint64_t{nodes} + size_ && is_left(occupancy_);
  }
  bool is_kept_by(const Allocation& allocation) const {
    if (size_ == 0) return true;
    Occupancy after = occupancy_;
    after.add(allocation);
    return is_left(after);
  }

 private:
  bool is_left(const Occupancy& occupancy) const { return allocator_.search().has_isolated(occupancy, size_); }

  const Allocator& allocator_;
  const Occupancy& occupancy_;
  std::uint32_t size_;
};

/// "31 % below", "4 % above", or nothing for a difference that is not visible.
std::string difference(double value, double other) {
  if (other <= 0) return "";
  const double percent = std::round(100 * (value / other - 1));
  if (percent == 0) return "";
  return fmt::format("{:.0f} % {}", std::abs(percent), percent < 0 ? "below" : "above");
}

}  // namespace

std::string_view name_of(Prefer prefer) {
  switch (prefer) {
    case Prefer::balanced:
      return "balanced";
    case Prefer::job:
      return "job";
    case Prefer::packing:
      break;
  }
  return "packing";
}

std::optional<Prefer> find_preference(std::string_view name) {
  for (const Prefer prefer : all_preferences) {
    if (name_of(prefer) == name) return prefer;
  }
  return std::nullopt;
}

std::optional<FitDecision> choose_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                      const AllocationOptions& options) {
  const FitOptions& fit = options.fit;
  const HeadroomRule headroom(allocator, occupancy, fit.headroom);
  if (!headroom.is_possible(nodes)) return std::nullopt;
  if (fit.run_time == nullptr || nodes == 1) {
    auto found = allocator.search().find_isolated(occupancy, nodes, Objective::min_diameter, options.limits);
    if (!found || !headroom.is_kept_by(*found)) return std::nullopt;
    return FitDecision{*std::move(found), {}, 0, 0};
  }
  Deadline deadline;
  if (fit.max_seconds) deadline = Deadline::in(std::chrono::milliseconds(std::llround(1000 * *fit.max_seconds)));
  const std::size_t max_sets = std::min(fit.max_candidates, fit.run_time->max_sets(nodes));
  std::vector<Candidate> candidates =
      allocator.search().find_candidates(occupancy, nodes, options.limits, std::max<std::size_t>(1, max_sets));
  if (candidates.empty()) return std::nullopt;
  FitDecision decision;
  for (Candidate& candidate : candidates) {
    if (!decision.sets.empty() && deadline.passed()) break;
    const double run_time = fit.run_time->run_time(candidate.allocation.nodes, deadline);
    decision.sets.push_back({std::move(candidate.shape), run_time, candidate.packing_cost});
  }
  decision.not_scored = candidates.size() - decision.sets.size();
  const std::vector<Score> all = scores(decision.sets, fit.prefer);
  std::vector<std::size_t> best_first(all.size());
  std::iota(best_first.begin(), best_first.end(), std::size_t{0});
  std::stable_sort(best_first.begin(), best_first.end(), [&](std::size_t a, std::size_t b) { return all[a] < all[b]; });
  const auto chosen = std::find_if(best_first.begin(), best_first.end(), [&](std::size_t number) {
    return headroom.is_kept_by(candidates[number].allocation);
  });
  if (chosen == best_first.end()) return std::nullopt;
  decision.chosen = *chosen;
  decision.allocation = std::move(candidates[decision.chosen].allocation);
  return decision;
}

std::string explain(const FitDecision& decision) {
  if (decision.sets.empty()) {
    return decision.allocation.nodes.size() == 1 ? "1 node: it exchanges no messages with others"
                                                 : "the traffic of the job is not known: chosen as closed-best";
  }
  const ScoredSet& chosen = decision.sets[decision.chosen];
  std::string text = chosen.shape + ": ";
  if (decision.sets.size() == 1) {
    text += decision.not_scored == 0 ? "the only isolated set" : "the only set that was scored in time";
    return text;
  }
  // The most compact set is the one to compare with; if it was chosen, the next best one is.
  std::size_t other = 0;
  if (decision.chosen == 0) {
    other = 1;
    for (std::size_t i = 2; i < decision.sets.size(); ++i) {
      if (balanced_cost(decision.sets[i]) < balanced_cost(decision.sets[other])) other = i;
    }
  }
  const ScoredSet& rival = decision.sets[other];
  const std::string time = difference(chosen.run_time, rival.run_time);
  const std::string packing = difference(chosen.packing_cost, rival.packing_cost);
  text += time.empty() ? fmt::format("same predicted run time as {}", rival.shape)
                       : fmt::format("predicted run time {} {}", time, rival.shape);
  text += packing.empty() ? ", same packing" : fmt::format(", nodes taken from others {}", packing);
  if (decision.not_scored > 0) text += fmt::format("; {} more sets were not scored in time", decision.not_scored);
  return text;
}

}  // namespace rankloom
