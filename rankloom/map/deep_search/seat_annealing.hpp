// SPDX-License-Identifier: Apache-2.0
// map/deep_search: simulated annealing over exchanges, for programs whose ranks have few partners each.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/deep_search/seat_graph.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// Kirkpatrick, Gelatt, Vecchi 1983. A trial draws a rank and one of its partners, and exchanges the rank with somebody
/// (or a free seat) in one of the regions around the partner that do not hold the rank: O(degree). Seats of one leaf
/// group are never exchanged. The temperature falls from where nothing of the start is left to where nothing happens
/// any more. A short first round learns at which temperatures the cost changes; the following ones, each of twice the
/// trials of the one before, stay longest there, and begin in turn at the top and just warm enough to change the best
/// so far in part. The last round is as long as there are trials or time left. With little time there is one round, and
/// it begins so cool that it keeps the large structure of the start. Returns the best of the start and the ends of the
/// rounds.
std::vector<Core> anneal_seats(const MapProblem& problem, const SeatGraph& graph, std::vector<Core> start,
                               std::uint64_t trials, const Deadline& deadline, Random& random, Pulse& pulse);

}  // namespace rankloom
