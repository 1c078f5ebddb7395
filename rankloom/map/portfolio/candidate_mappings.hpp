// SPDX-License-Identifier: Apache-2.0
// map/portfolio: mappings of one problem under different goals. A better judge than the goals chooses among them: the
// predicted time, a simulation, or runs of the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/map/run.hpp"

namespace rankloom {

struct CandidateMapping {
  std::string goal;  ///< The cost model that was minimised, or "default placement", "start", "block".
  std::uint32_t nodes = 0;
  Mapping mapping;
  double cost = 0;               ///< The value of the model of the problem.
  double predicted_seconds = 0;  ///< By flows; of large programs, the value of the model `predicted`.
  bool is_default = false;       ///< The default placement.

  /// "time on 8 nodes"
  std::string name() const;
};

/// Different mappings, by predicted time: `mapped`, which is the result for the model of the problem; those that the
/// mapper finds for the models predicted, time, bytes and, on routed networks, congestion; with more slots than ranks,
/// also those on more and more nodes (see spread_capacities). The default placement (empty: block), the start and the
/// block placement are among them, so that the best candidate by any judge is at least as good as these. Placements
/// that differ only by an exchange of equal parts of the machine count as one; the first in this order stays: default
/// placement, start, block, mapped, others. The runs of the mapper share the time of the deadline. Fails for mappers
/// that balance loads, which the predicted time does not contain.
Result<std::vector<CandidateMapping>> candidate_mappings(const ConfiguredMapper& mapper, const MapProblem& problem,
                                                         const MapRun& run, std::span<const Core> default_placement,
                                                         const MapResult& mapped);

/// Whether an exchange of equal parts of the machine turns one placement into the other. Parts are equal if the machine
/// is symmetric and has neither devices nor levels with several costs; nodes of a routed network are not. Otherwise the
/// placements must be equal. O(ranks x levels).
bool equal_up_to_symmetry(std::span<const Core> a, std::span<const Core> b, const Topology& topology,
                          const Capacities& capacities);

}  // namespace rankloom
