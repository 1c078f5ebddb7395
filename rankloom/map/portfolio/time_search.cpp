// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a search that minimises the predicted time of the communication.
#include "rankloom/map/portfolio/time_search.hpp"

#include <algorithm>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/model/rank_limits.hpp"

namespace rankloom {

namespace {

constexpr std::uint64_t random_stream = 0x7e57;

/// A random move to a free slot or exchange with another rank; nothing if it would change nothing.
std::optional<Change> random_change(PlacementState& state, Rank rank, Random& random) {
  const auto open = state.open_cores();
  // Free slots and ranks have the same probability.
  const std::uint64_t target = random.below(open.size() + state.rank_count());
  if (target < open.size()) {
    const Core to = open[target];
    return to == state.core_of(rank) ? std::nullopt : std::optional(state.try_move(rank, to));
  }
  const Rank partner{static_cast<std::uint32_t>(target - open.size())};
  return state.core_of(partner) == state.core_of(rank) ? std::nullopt
                                                       : std::optional(state.try_exchange(rank, partner));
}

/// Accepts changes that increase the cost by less than a threshold, which falls to 0. The state ends with the best
/// placement that was seen.
std::vector<Core> accept_below_threshold(PlacementState& state, std::uint64_t trials, Random& random,
                                         StopCondition& stop_condition) {
  constexpr double first_threshold = 0.01;  // of the cost
  std::vector<Core> best = state.placement();
  double best_cost = state.cost();
  std::vector<Rank> in_the_way;
  for (std::uint64_t trial = 0; trial < trials && !stop_condition.should_stop(); ++trial) {
    if (trial % state.rank_count() == 0) in_the_way = state.ranks_in_the_way();
    const double rest = 1 - static_cast<double>(trial) / static_cast<double>(trials);
    // Every other trial moves a rank that must move sooner or later.
    const Rank rank = trial % 2 == 0 && !in_the_way.empty()
                          ? in_the_way[random.below(in_the_way.size())]
                          : Rank{static_cast<std::uint32_t>(random.below(state.rank_count()))};
    const auto change = random_change(state, rank, random);
    if (!change || change->delta >= first_threshold * rest * rest * best_cost) continue;
    state.apply(*change);
    if (state.cost() < best_cost) {
      best_cost = state.cost();
      best = state.placement();
    }
  }
  return best;
}

}  // namespace

void TimeSearch::add(std::vector<Core> core_of) {
  const double seconds = evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
  const auto at = std::upper_bound(candidates_.begin(), candidates_.end(), seconds,
                                   [](double time, const Candidate& other) { return time < other.seconds; });
  candidates_.insert(at, {std::move(core_of), seconds});
}

void TimeSearch::improve(const Limits& limits, StopCondition& stop_condition) {
  std::vector<std::vector<Core>> starts;
  for (std::size_t at = 0; at < std::min(limits.candidates, candidates_.size()); ++at)
    starts.push_back(candidates_[at].core_of);
  for (std::size_t at = 0; at < starts.size() && !stop_condition.should_stop_now(); ++at)
    add(search(starts[at], limits, mix(run_.seed) + at, stop_condition));
}

std::vector<Core> TimeSearch::search(const std::vector<Core>& start, const Limits& limits, std::uint64_t seed,
                                     StopCondition& stop_condition) const {
  constexpr double channels_per_route = 8, regions_per_rank = 16;
  const double ranks = problem_.graph.rank_count();
  // Two ranks, each with edges in both directions, before and after the change.
  const double visits_per_trial =
      8 * channels_per_route * std::max(1.0, static_cast<double>(problem_.graph.edge_count()) / ranks);
  const double visits_of_descent = regions_per_rank * ranks * visits_per_trial;
  PlacementState state(problem_, start);
  double visits = limits.channel_visits;
  if (visits_of_descent <= visits) {
    NeighbourhoodDescent(state).run(stop_condition);
    visits -= visits_of_descent;
  }
  Random random(seed, random_stream);
  const double trials = std::min(static_cast<double>(limits.trials_per_rank) * ranks, visits / visits_per_trial);
  return accept_below_threshold(state, static_cast<std::uint64_t>(trials), random, stop_condition);
}

std::vector<Capacities> spread_capacities(const MapProblem& problem) {
  std::vector<Capacities> result{problem.capacities};
  const std::uint32_t ranks = problem.graph.rank_count();
  if (problem.capacities.total() <= ranks) return result;
  RankLimits limits = even_limits(ranks, problem.topology, problem.capacities);
  std::uint64_t most = 0;
  for (const Node node : problem.topology.nodes()) {
    const std::size_t level = problem.topology.node_level();
    std::uint64_t slots = 0;
    for (std::uint32_t core = index(problem.topology.first_core(level, index(node)));
         core < index(problem.topology.first_core(level, index(node) + 1)); ++core)
      slots += problem.capacities[Core{core}];
    most = std::max(most, slots);
  }
  for (; limits.per_node < most; limits = {2 * limits.per_node, 2 * limits.per_package, 2 * limits.per_numa}) {
    if (auto limited = limit_ranks(problem.capacities, problem.topology, limits, ranks))
      result.push_back(std::move(*limited));
  }
  return result;
}

}  // namespace rankloom
