// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: spends a time budget on improving good placements.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Up to this many locations, tabu search finds improvements that annealing misses, so both do half of the work.
inline constexpr std::uint64_t max_locations_for_tabu_search = 128;

struct MetaheuristicOptions {
  /// Iterations of tabu search, or thousands of trials of simulated annealing. 0: until the deadline.
  std::uint64_t iterations = 0;
};

/// The best placement found from the starts (at least one, all valid); never costs more than the best of them. Chooses
/// memetic tabu search for distance tables and small dense problems, simulated annealing for sparse traffic on trees
/// and symmetric networks. Returns the best start under the congestion model, and for problems too large for both
/// searches. Without iterations and without a deadline it takes a fraction of a second. The same seed and iterations
/// give the same placement, unless the deadline comes first.
std::vector<Core> metaheuristic_search(const MapProblem& problem, std::vector<std::vector<Core>> starts,
                                       const MetaheuristicOptions& options, const MapRun& run);

}  // namespace rankloom
