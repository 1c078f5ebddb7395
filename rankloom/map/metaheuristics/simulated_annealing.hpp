// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: simulated annealing over swaps, for sparse traffic.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/metaheuristics/sparse_qap.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983). A trial draws a rank and one of its partners, and swaps the
/// rank with the facility (a rank or a free slot) at a random location of one of the regions that contain the partner
/// but not the rank: O(degree). Equivalent locations are never swapped. The temperature falls from a value at which
/// nothing of the start remains to one at which hardly any swap is accepted. A short first round measures at which
/// temperatures the cost changes. The following rounds spend most trials there; each has twice the trials of the one
/// before. They start in turn at the highest temperature and at one that changes the best placement only in part. The
/// last round uses all trials or all time left. With little time there is a single round, and it starts at so low a
/// temperature that the large structure of the start remains; on networks, a second one polishes its result. Returns
/// the best of the start and the final placements of all rounds.
std::vector<Core> simulated_annealing(const MapProblem& problem, const SparseQap& graph, std::vector<Core> start,
                                      std::uint64_t trials, const Deadline& deadline, Random& random,
                                      StopCondition& stop_condition);

}  // namespace rankloom
