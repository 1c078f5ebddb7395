// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: chooses the search for a problem.
#include "rankloom/map/metaheuristics/metaheuristic_search.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/metaheuristics/memetic_search.hpp"
#include "rankloom/map/metaheuristics/simulated_annealing.hpp"

namespace rankloom {
namespace {

/// Without iterations and without a deadline.
constexpr std::uint64_t default_iterations = 4'000;
constexpr std::uint64_t trials_per_iteration = 1000;
constexpr std::uint64_t unlimited_iterations = std::numeric_limits<std::uint64_t>::max() / trials_per_iteration;

double cost_of(const MapProblem& problem, std::span<const Core> core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
}

/// The iterations of tabu search that do as much work as `trials` of simulated annealing. A trial looks at the edges of
/// two ranks, an iteration at all pairs of locations.
std::uint64_t tabu_iterations(const SparseQap& qap, std::uint64_t trials) {
  constexpr std::uint64_t other_work = 8;  // of a trial, in edges
  std::uint64_t edges = 0;
  for (std::uint32_t rank = 0; rank < qap.ranks(); ++rank) edges += qap.edges(rank).size();
  const std::uint64_t locations = qap.location_count();
  const std::uint64_t work_of_trial = other_work + 2 * edges / qap.ranks();
  return trials * work_of_trial / (locations * (locations - 1) / 2);
}

Deadline halfway(const Deadline& deadline) {
  if (!deadline.limited()) return deadline;
  return Deadline::in(std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left() / 2));
}

/// The first start must be the best one.
std::vector<Core> memetic_placement(const MapProblem& problem, const std::vector<std::vector<Core>>& starts,
                                    std::uint64_t iterations, Random& random, StopCondition& stop_condition) {
  const QapInstance instance(problem);
  std::vector<std::vector<std::uint32_t>> assignments;
  assignments.reserve(starts.size());
  for (const auto& start : starts) assignments.push_back(instance.locations().assignment_of(start));
  auto placement =
      instance.locations().placement_of(memetic_search(instance, assignments, iterations, random, stop_condition));
  return cost_of(problem, placement) < cost_of(problem, starts.front()) ? placement : starts.front();
}

}  // namespace

std::vector<Core> metaheuristic_search(const MapProblem& problem, std::vector<std::vector<Core>> starts,
                                       const MetaheuristicOptions& options, const MapRun& run) {
  const TimedSection timing("metaheuristic search");
  assert(!starts.empty());
  std::stable_sort(starts.begin(), starts.end(),
                   [&](const auto& a, const auto& b) { return cost_of(problem, a) < cost_of(problem, b); });
  const bool can_anneal = SparseQap::fits(problem);
  const bool can_tabu = QapInstance::fits(problem);
  if (problem.graph.rank_count() < 2 || (!can_anneal && !can_tabu)) return starts.front();
  std::uint64_t iterations = options.iterations;
  if (iterations == 0) iterations = run.deadline.limited() ? unlimited_iterations : default_iterations;
  StopCondition stop_condition(run, "metaheuristic search");
  Random random(run.seed);
  if (can_anneal) {
    const bool both = can_tabu && problem.capacities.total() <= max_locations_for_tabu_search;
    const std::uint64_t trials = iterations * trials_per_iteration / (both ? 2 : 1);
    const Deadline deadline = both ? halfway(run.deadline) : run.deadline;
    const SparseQap qap(problem);
    starts.insert(starts.begin(),
                  simulated_annealing(problem, qap, starts.front(), trials, deadline, random, stop_condition));
    if (!both) return starts.front();
    if (iterations != unlimited_iterations) iterations = tabu_iterations(qap, trials);
  }
  return memetic_placement(problem, starts, iterations, random, stop_condition);
}

}  // namespace rankloom
