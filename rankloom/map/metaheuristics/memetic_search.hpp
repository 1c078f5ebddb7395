// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: memetic search for the QAP: a population of assignments, crossover, tabu search.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/metaheuristics/qap_instance.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// Memetic search after Benlic and Hao (2015): a child inherits the assignments that its parents share, and the others
/// from either parent. A short tabu search improves it. It replaces the worst individual if it is better and new. When
/// the population no longer changes, another one starts, with longer tabu searches. Runs `iterations` iterations of
/// tabu search in all, unless `stop_condition` ends it earlier. `starts` are assignments (the facility at each
/// location). Returns the best assignment found.
std::vector<std::uint32_t> memetic_search(const QapInstance& instance,
                                          const std::vector<std::vector<std::uint32_t>>& starts,
                                          std::uint64_t iterations, Random& random, StopCondition& stop_condition);

}  // namespace rankloom
