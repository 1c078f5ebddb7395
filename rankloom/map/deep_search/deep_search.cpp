// SPDX-License-Identifier: Apache-2.0
// map/deep_search: chooses the search that suits a problem.
#include "rankloom/map/deep_search/deep_search.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "rankloom/map/deep_search/memetic_search.hpp"
#include "rankloom/map/deep_search/seat_annealing.hpp"

namespace rankloom {
namespace {

/// When nobody says how long.
constexpr std::uint64_t default_steps = 4'000;
constexpr std::uint64_t trials_in_a_step = 1000;
constexpr std::uint64_t without_end = std::numeric_limits<std::uint64_t>::max() / trials_in_a_step;
/// So small that tables can find what annealing has missed; both get half of the time.
constexpr std::uint64_t few_seats = 128;

double cost_of(const MapProblem& problem, std::span<const Core> core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
}

Deadline halfway(const Deadline& deadline) {
  if (!deadline.limited()) return deadline;
  return Deadline::in(std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left() / 2));
}

/// The best of the starts is the first.
std::vector<Core> searched_in_tables(const MapProblem& problem, const std::vector<std::vector<Core>>& starts,
                                     std::uint64_t steps, Random& random, Pulse& pulse) {
  const AssignmentTables tables(problem);
  std::vector<std::vector<std::uint32_t>> assignments;
  for (const auto& start : starts) assignments.push_back(tables.items_on_seats(start));
  auto found = tables.placement(memetic_search(tables, assignments, steps, random, pulse));
  return cost_of(problem, found) < cost_of(problem, starts.front()) ? found : starts.front();
}

}  // namespace

std::vector<Core> deep_search(const MapProblem& problem, std::vector<std::vector<Core>> starts,
                              const DeepSearchOptions& options, const MapRun& run) {
  assert(!starts.empty());
  std::stable_sort(starts.begin(), starts.end(),
                   [&](const auto& a, const auto& b) { return cost_of(problem, a) < cost_of(problem, b); });
  const bool sparse = SeatGraph::fits(problem);
  const bool tables = AssignmentTables::fit(problem);
  if (problem.graph.rank_count() < 2 || (!sparse && !tables)) return starts.front();
  std::uint64_t steps = options.steps;
  if (steps == 0) steps = run.deadline.limited() ? without_end : default_steps;
  Pulse pulse(run, "deep search");
  Random random(run.seed);
  if (sparse) {
    const bool both = tables && problem.capacities.total() <= few_seats;
    if (both) steps /= 2;
    const Deadline deadline = both ? halfway(run.deadline) : run.deadline;
    const SeatGraph graph(problem);
    starts.insert(starts.begin(),
                  anneal_seats(problem, graph, starts.front(), steps * trials_in_a_step, deadline, random, pulse));
    if (!both) return starts.front();
  }
  return searched_in_tables(problem, starts, steps, random, pulse);
}

}  // namespace rankloom
