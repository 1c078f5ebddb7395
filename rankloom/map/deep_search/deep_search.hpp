// SPDX-License-Identifier: Apache-2.0
// map/deep_search: spends a time budget on a placement that is good already.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

struct DeepSearchOptions {
  std::uint64_t steps =
      0;  ///< Work to do: steps of tabu search, or thousands of trials of annealing. 0: to the deadline.
};

/// The best placement found from the starts (at least one, valid), never dearer than the best of them. Tables and
/// small problems with dense traffic: memetic tabu search; sparse traffic on trees and symmetric networks: annealing.
/// Under the congestion model, and where neither fits, the best start comes back. Without steps and without a deadline
/// it takes a fraction of a second. Same seed and steps, same placement, unless the deadline comes first.
std::vector<Core> deep_search(const MapProblem& problem, std::vector<std::vector<Core>> starts,
                              const DeepSearchOptions& options, const MapRun& run);

}  // namespace rankloom
