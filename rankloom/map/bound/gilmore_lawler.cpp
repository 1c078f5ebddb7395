// SPDX-License-Identifier: Apache-2.0
// map/bound: the bound of Gilmore and Lawler.
#include "rankloom/map/bound/gilmore_lawler.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "rankloom/map/exhaustive/dense_qap.hpp"
#include "rankloom/map/exhaustive/linear_assignment.hpp"

namespace rankloom {
namespace {

/// Ranks² x slots: 126 ranks on as many cores.
constexpr std::uint64_t max_work = 2'000'000;

using Sorted = std::vector<double>;

/// The traffic of a task with every other task, in falling order: half of both directions if distances are symmetric,
/// which gives the tightest bound; otherwise what the task sends.
Sorted falling_traffic(const DenseQap& problem, std::uint32_t task, bool messages) {
  const auto amount = [&](std::uint32_t from, std::uint32_t to) {
    return messages ? problem.messages(from, to) : problem.bytes(from, to);
  };
  Sorted row;
  for (std::uint32_t other = 0; other < problem.tasks(); ++other) {
    if (other == task) continue;
    const double sent = amount(task, other);
    row.push_back(problem.symmetric_distances() ? (sent + amount(other, task)) / 2 : sent);
  }
  std::sort(row.begin(), row.end(), std::greater<>());
  return row;
}

/// The distances from a core to the slots that other tasks may occupy, in ascending order.
Sorted rising_distances(const DenseQap& problem, std::uint32_t core, bool messages) {
  Sorted row;
  for (std::uint32_t other = 0; other < problem.cores(); ++other) {
    const std::uint32_t free_slots = problem.capacity(other) - (other == core ? 1 : 0);
    const PairCost& pair = problem.distance(core, other);
    row.insert(row.end(), std::min(free_slots, problem.tasks()), messages ? pair.per_message : pair.per_byte);
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

bool fits_gilmore_lawler(const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  if (problem.topology.core_count() > DenseQap::max_cores || ranks > max_work) return false;
  std::uint64_t slots = 0;
  for (const Core core : problem.topology.cores()) slots += std::min<std::uint64_t>(problem.capacities[core], ranks);
  return ranks * ranks * slots <= max_work;
}

double gilmore_lawler_bound(const MapProblem& problem) {
  const DenseQap qap(problem);
  std::vector<Sorted> bytes, messages;
  for (std::uint32_t task = 0; task < qap.tasks(); ++task) {
    bytes.push_back(falling_traffic(qap, task, false));
    if (!qap.bytes_only()) messages.push_back(falling_traffic(qap, task, true));
  }
  std::vector<double> by_core(std::size_t{qap.tasks()} * qap.cores());
  std::vector<std::uint32_t> core_of_slot;
  for (std::uint32_t core = 0; core < qap.cores(); ++core) {
    if (qap.capacity(core) == 0) continue;
    core_of_slot.insert(core_of_slot.end(), std::min(qap.capacity(core), qap.tasks()), core);
    const Sorted gaps = rising_distances(qap, core, false);
    const Sorted latencies = qap.bytes_only() ? Sorted() : rising_distances(qap, core, true);
    for (std::uint32_t task = 0; task < qap.tasks(); ++task) {
      double& cost = by_core[task * std::size_t{qap.cores()} + core];
      cost = qap.self_cost(task, core) + product(bytes[task], gaps);
      if (!qap.bytes_only()) cost += product(messages[task], latencies);
    }
  }
  std::vector<double> cost;
  cost.reserve(qap.tasks() * core_of_slot.size());
  for (std::uint32_t task = 0; task < qap.tasks(); ++task) {
    for (const std::uint32_t core : core_of_slot) cost.push_back(by_core[task * std::size_t{qap.cores()} + core]);
  }
  return LinearAssignment().solve(cost, qap.tasks(), core_of_slot.size());
}

}  // namespace rankloom
