// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: chooses the search for a problem.
#include "rankloom/map/metaheuristics/metaheuristic_search.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "rankloom/map/metaheuristics/memetic_search.hpp"
#include "rankloom/map/metaheuristics/simulated_annealing.hpp"

namespace rankloom {
namespace {

/// Without iterations and without a deadline.
constexpr std::uint64_t default_iterations = 4'000;
constexpr std::uint64_t trials_per_iteration = 1000;
constexpr std::uint64_t unlimited_iterations = std::numeric_limits<std::uint64_t>::max() / trials_per_iteration;
/// Up to this many locations, tabu search finds improvements that annealing misses, so both run for half of the time.
constexpr std::uint64_t max_locations_for_both = 128;

double cost_of(const MapProblem& problem, std::span<const Core> core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
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
    const bool both = can_tabu && problem.capacities.total() <= max_locations_for_both;
    if (both) iterations /= 2;
    const Deadline deadline = both ? halfway(run.deadline) : run.deadline;
    starts.insert(starts.begin(),
                  simulated_annealing(problem, SparseQap(problem), starts.front(), iterations * trials_per_iteration,
                                      deadline, random, stop_condition));
    if (!both) return starts.front();
  }
  return memetic_placement(problem, starts, iterations, random, stop_condition);
}

}  // namespace rankloom
