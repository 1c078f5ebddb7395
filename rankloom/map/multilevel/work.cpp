// SPDX-License-Identifier: Apache-2.0
// map/multilevel: loads as sizes of vertices.
#include "rankloom/map/multilevel/work.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rankloom::multilevel {
namespace {

constexpr double many_units = 1e9;

}  // namespace

std::optional<Work> work_of(const MapProblem& problem, double tolerance) {
  const auto loads = problem.graph.loads();
  std::uint64_t places = 0;
  for (const Core core : problem.topology.cores()) places += problem.topology.capacity(core);
  if (loads.empty() || loads.size() <= places) return std::nullopt;
  const auto [lightest, heaviest] = std::minmax_element(loads.begin(), loads.end());
  if (*lightest == *heaviest) return std::nullopt;
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  Work work{{}, problem.capacities, 0};
  std::uint64_t all = 0;
  for (const double load : loads) {
    work.units.push_back(static_cast<std::uint32_t>(std::lround(load / total * many_units)));
    all += work.units.back();
  }
  const double average = total / static_cast<double>(places);
  work.limit = std::max(average * (1 + tolerance), *heaviest);
  auto capacities = Capacities::of(problem.topology, static_cast<std::uint32_t>(all),
                         {.oversubscribe = true, .imbalance = work.limit / average - 1});
  if (!capacities) return std::nullopt;
  work.capacities = std::move(*capacities);
  return work;
}

}  // namespace rankloom::multilevel
