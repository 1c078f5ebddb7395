// SPDX-License-Identifier: Apache-2.0
// map/bound: the bound of Gilmore and Lawler.
#include "rankloom/map/bound/gilmore_lawler.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "rankloom/map/exhaustive/assignment.hpp"
#include "rankloom/map/exhaustive/small_problem.hpp"

namespace rankloom {
namespace {

/// Ranks² x places: 126 ranks on as many cores.
constexpr std::uint64_t most_work = 2'000'000;

using Sorted = std::vector<double>;

/// What a task says to each other one: where distances are the same both ways, half of both directions, which balances
/// the bound; else what it sends.
Sorted heaviest_first(const SmallProblem& problem, std::uint32_t task, bool messages) {
  const auto amount = [&](std::uint32_t from, std::uint32_t to) {
    return messages ? problem.messages(from, to) : problem.bytes(from, to);
  };
  Sorted row;
  for (std::uint32_t other = 0; other < problem.tasks(); ++other) {
    if (other == task) continue;
    const double out = amount(task, other);
    row.push_back(problem.symmetric_distances() ? (out + amount(other, task)) / 2 : out);
  }
  std::sort(row.begin(), row.end(), std::greater<>());
  return row;
}

/// From a core to the places that others may take.
Sorted nearest_first(const SmallProblem& problem, std::uint32_t core, bool messages) {
  Sorted row;
  for (std::uint32_t other = 0; other < problem.cores(); ++other) {
    const std::uint32_t room = problem.capacities(other) - (other == core ? 1 : 0);
    const PairCost& pair = problem.distance(core, other);
    row.insert(row.end(), std::min(room, problem.tasks()), messages ? pair.per_message : pair.per_byte);
  }
  std::sort(row.begin(), row.end());
  return row;
}

double product(const Sorted& traffic, const Sorted& distances) {
  double sum = 0;
  for (std::size_t at = 0; at < traffic.size(); ++at) sum += traffic[at] * distances[at];
  return sum;
}

}  // namespace

bool suits_gilmore_lawler(const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  if (problem.topology.core_count() > SmallProblem::most_cores || ranks > most_work) return false;
  std::uint64_t seats = 0;
  for (const Core core : problem.topology.cores()) seats += std::min<std::uint64_t>(problem.capacities[core], ranks);
  return ranks * ranks * seats <= most_work;
}

double gilmore_lawler_bound(const MapProblem& problem) {
  const SmallProblem small(problem);
  std::vector<Sorted> bytes, messages;
  for (std::uint32_t task = 0; task < small.tasks(); ++task) {
    bytes.push_back(heaviest_first(small, task, false));
    if (!small.bytes_only()) messages.push_back(heaviest_first(small, task, true));
  }
  std::vector<double> by_core(std::size_t{small.tasks()} * small.cores());
  std::vector<std::uint32_t> seats;
  for (std::uint32_t core = 0; core < small.cores(); ++core) {
    if (small.capacities(core) == 0) continue;
    seats.insert(seats.end(), std::min(small.capacities(core), small.tasks()), core);
    const Sorted gaps = nearest_first(small, core, false);
    const Sorted latencies = small.bytes_only() ? Sorted() : nearest_first(small, core, true);
    for (std::uint32_t task = 0; task < small.tasks(); ++task) {
      double& cost = by_core[task * std::size_t{small.cores()} + core];
      cost = small.self_cost(task, core) + product(bytes[task], gaps);
      if (!small.bytes_only()) cost += product(messages[task], latencies);
    }
  }
  std::vector<double> cost;
  cost.reserve(small.tasks() * seats.size());
  for (std::uint32_t task = 0; task < small.tasks(); ++task) {
    for (const std::uint32_t core : seats) cost.push_back(by_core[task * std::size_t{small.cores()} + core]);
  }
  return Assignment().solve(cost, small.tasks(), seats.size());
}

}  // namespace rankloom
