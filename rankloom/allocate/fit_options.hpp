// SPDX-License-Identifier: Apache-2.0
// allocate: what the policy closed-fit knows about a job, and what it prefers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/progress.hpp"

namespace rankloom {

/// How long a job runs on a set of nodes. Mappers and predictions are not part of this stage, so the caller provides
/// the model (see place/joint/job_fit.hpp).
class RunTimeModel {
 public:
  virtual ~RunTimeModel() = default;
  /// The predicted run time of the job on these nodes, in any unit. The nodes are in ascending order. When the deadline
  /// passes, the model returns what it has.
  virtual double run_time(std::span<const Node> nodes, const Deadline& deadline) const = 0;
  /// How many sets of this many nodes are worth comparing.
  virtual std::size_t max_sets(std::size_t nodes) const = 0;
};

/// What closed-fit minimises.
enum class Prefer : std::uint8_t {
  balanced,  ///< Nodes that the set takes from others x run time^0.3.
  job,       ///< The run time, then what the set takes from others.
  packing,   ///< What the set takes from others, then the run time.
};

inline constexpr Prefer all_preferences[] = {Prefer::balanced, Prefer::job, Prefer::packing};
std::string_view name_of(Prefer prefer);
std::optional<Prefer> find_preference(std::string_view name);

struct FitOptions {
  const RunTimeModel* run_time = nullptr;  ///< Of the job; nullptr: closed-fit chooses as closed-best does.
  Prefer prefer = Prefer::balanced;
  std::uint32_t headroom = 0;       ///< Nodes that remain free for others, as an isolated set.
  std::size_t max_candidates = 12;  ///< Sets that are compared.
  /// Seconds for one decision; empty: no limit. Sets that are not scored by then are not considered; the first one
  /// always is.
  std::optional<double> max_seconds = {};
};

}  // namespace rankloom
