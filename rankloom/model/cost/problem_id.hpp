// SPDX-License-Identifier: Apache-2.0
// model/cost: which mapping problem the costs of a result belong to.
#pragma once

#include <cstdint>
#include <string>

namespace rankloom {

/// What identifies a mapping problem. Costs are comparable only if they belong to the same one.
struct ProblemId {
  std::string graph, machine;  ///< Digests; empty: unknown.
  std::uint64_t slots = 0;     ///< Of the problem: more than those of the machine if oversubscribed.
  std::string model;           ///< Of the costs.
};

}  // namespace rankloom
