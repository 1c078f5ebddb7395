// SPDX-License-Identifier: Apache-2.0
// map: runs a mapper, measures its time, validates its result, and falls back to the launcher's default placement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/cost/loads.hpp"

namespace rankloom {

struct MapResult {
  std::string mapper;  ///< The spec of the mapper.
  std::uint64_t seed;
  CostModel model;
  Mapping mapping;
  double cost;                        ///< The value of the cost model for `mapping`.
  double cost_default;                ///< The same for the default placement.
  std::optional<double> lower_bound;  ///< No placement has a better value of the cost model; empty: unknown, or too
                                      ///< weak to say anything.
  double time_ms;                     ///< Wall-clock time of the mapper alone, or of the program that it started.
  bool fell_back;  ///< The result of the mapper cost more than the default placement, which is returned instead.
  std::string note;
  std::optional<LoadBalance> load;         ///< Only for mappers that balance loads.
  std::optional<std::uint64_t> moved;      ///< Ranks that are not on their core of the start; empty: no start.
  std::optional<ProcessUsage> usage = {};  ///< Of the program that the mapper started.
};

struct MapRunOptions {
  /// The default placement, which must be valid; empty: the block placement.
  std::span<const Core> default_placement = {};
  bool keep_worse = false;  ///< Return a result that costs more than the default placement (to compare mappers).
  bool compute_lower_bound = false;  ///< Compute a lower bound even if the mapper has none; not with loads.
};

/// A mapper that balances loads may place any number of ranks on a core if cores may be shared. The default
/// placement replaces its result only if the default placement is at least as good in cost and in load (of the heaviest
/// core), and better in one. With a migration cost, mappers search as without it; then only those moves of the result
/// are kept that reduce the cost including migration. This cost is at most that of the mapper's result and at most that
/// of the start. Results of mappers that balance loads are not changed. Slots of several shapes: see
/// map/machine/mixed_run.hpp.
Result<MapResult> run_mapper(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run,
                             MapRunOptions options = {});

}  // namespace rankloom
