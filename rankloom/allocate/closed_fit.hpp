// SPDX-License-Identifier: Apache-2.0
// allocate: the policy closed-fit: the nodes of a job, chosen with its traffic in mind, and the reason for the choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/allocate/policy.hpp"

namespace rankloom {

/// An isolated set that was compared with others.
struct ScoredSet {
  std::string shape;  ///< "box 2x8"
  double run_time = 0;
  double packing_cost = 0;
};

struct FitDecision {
  Allocation allocation;
  std::vector<ScoredSet> sets;  ///< Those that were scored, the most compact first.
  std::size_t chosen = 0;       ///< In `sets`.
  std::size_t not_scored = 0;   ///< Further sets for which the time was too short.
};

/// Scores several isolated sets by the run time of the job and by what they leave for others, and takes the best.
/// Without a run time model, the set of closed-best is the only one.
std::optional<FitDecision> choose_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                      const AllocationOptions& options);

/// The choice in one sentence: "box 2x8: predicted run time 31 % below box 4x4, same packing".
std::string explain(const FitDecision& decision);

}  // namespace rankloom
