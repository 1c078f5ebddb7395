// SPDX-License-Identifier: Apache-2.0
// map: runs a mapper as every verb does: timed, its result checked, and never worse than the launcher's default order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/load_balance.hpp"

namespace rankloom {

struct MapResult {
  std::string mapper;  ///< The spec that ran.
  std::uint64_t seed;
  CostModel model;
  Mapping mapping;
  double cost;                        ///< Value of the model for `mapping`.
  double cost_default;                ///< Value for the block placement.
  std::optional<double> lower_bound;  ///< No placement has a better value of the model, if known.
  double time_ms;                     ///< The algorithm alone, wall clock.
  bool fell_back;  ///< The mapper's own result cost more than the default order, which is returned instead.
  std::string note;
  std::optional<LoadBalance> load;     ///< For mappers that balance it.
  std::optional<std::uint64_t> moved;  ///< Ranks that are not on their core of the start, where there was one.
};

struct RunOptions {
  bool keep_worse = false;  ///< Hand out a result that costs more than the default order (for comparing mappers).
  bool certify = false;     ///< Say how low the cost can be at best, also where the mapper does not; not for loads.
};

/// A mapper that balances loads may put any number of ranks on a core where cores may be shared, and its result is
/// worse than the default order only if that is at least as good in cost and in its heaviest core, and better in one.
/// With a price for moves, mappers search as without, and of their result what pays is kept: its cost with the moves is
/// neither above that of the mapper's result nor above the start's. Balanced loads are not touched.
Result<MapResult> run_mapper(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run,
                             RunOptions options = {});

}  // namespace rankloom
