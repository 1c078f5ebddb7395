// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the work of the ranks in whole units, and what a core may hold of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom::multilevel {

struct Work {
  std::vector<std::uint32_t> units;  ///< Of each rank; about 10^9 all together.
  Capacities capacities;                       ///< Units instead of ranks.
  double limit;                      ///< The most work on a core, in the graph's own measure.
};

/// A core may hold `tolerance` more than the average, or the heaviest rank if that is more. None when all ranks have
/// the same work, or nobody needs to share a core.
std::optional<Work> work_of(const MapProblem& problem, double tolerance);

}  // namespace rankloom::multilevel
