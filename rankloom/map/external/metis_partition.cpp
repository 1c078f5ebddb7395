// SPDX-License-Identifier: Apache-2.0
// map/external: one call of METIS.
#include "rankloom/map/external/metis_partition.hpp"

#include <limits>
#include <mutex>
#include <numeric>

#include <fmt/format.h>
#include <metis.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/external/integer_weights.hpp"

namespace rankloom {
namespace {

/// METIS sums the weights around a vertex and over the whole graph in idx_t.
constexpr double max_weight = static_cast<double>(std::numeric_limits<idx_t>::max()) / 4;

/// METIS uses the random number generator of the C library, whose state is global.
std::unique_lock<std::mutex> lock_metis() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

}  // namespace

Result<std::vector<std::uint32_t>> metis_partition(const Affinity& affinity, const MetisRequest& request) {
  const TimedSection timing("METIS");
  if (static_cast<double>(affinity.edge_count()) > max_weight / 2) {
    return fail(Code::infeasible, at("metis"),
                fmt::format("{} pairs of ranks are too many for this build of METIS", affinity.edge_count() / 2),
                "choose another mapper, or build with a METIS that has 64-bit indices");
  }
  idx_t vertices = static_cast<idx_t>(affinity.size());
  idx_t parts = static_cast<idx_t>(request.shares.size());
  idx_t constraints = 1;
  std::vector<idx_t> offsets(affinity.offsets().begin(), affinity.offsets().end());
  std::vector<idx_t> neighbours(affinity.all_neighbours().begin(), affinity.all_neighbours().end());
  std::vector<idx_t> weights = integer_weights<idx_t>(affinity.all_weights(), max_weight);
  std::vector<idx_t> loads = integer_weights<idx_t>(request.loads, max_weight);
  std::vector<real_t> shares;
  const double sum = std::accumulate(request.shares.begin(), request.shares.end(), 0.0);
  for (const double share : request.shares) shares.push_back(static_cast<real_t>(share / sum));
  auto slack = static_cast<real_t>(std::max(1.001, request.slack));

  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = static_cast<idx_t>(mix(request.seed) >> 34);
  options[METIS_OPTION_NCUTS] = static_cast<idx_t>(request.cuts);
  std::vector<idx_t> part_of(affinity.size());
  idx_t cut = 0;
  const auto partition = request.kway ? METIS_PartGraphKway : METIS_PartGraphRecursive;
  const auto lock = lock_metis();
  const int status =
      partition(&vertices, &constraints, offsets.data(), neighbours.data(), loads.empty() ? nullptr : loads.data(),
                nullptr, weights.data(), &parts, shares.data(), &slack, options, &cut, part_of.data());
  if (status != METIS_OK) {
    const bool memory = status == METIS_ERROR_MEMORY;
    return fail(Code::environment, at("metis"), memory ? "METIS ran out of memory" : "METIS failed",
                memory ? "map on a machine with more memory" : "choose another mapper");
  }
  return std::vector<std::uint32_t>(part_of.begin(), part_of.end());
}

}  // namespace rankloom
