// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: tasks that are alike, so that a search does not try them in every order.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/exhaustive/dense_qap.hpp"

namespace rankloom {

/// Two tasks are twins when exchanging them changes no traffic. Once a search has tried everything with task t on core
/// p, it need not put a waiting twin of t there while t is elsewhere: exchanging the two gives a placement it has seen.
/// That stays right together with Symmetry: both leave out only placements that equal one visited earlier.
class Twins {
 public:
  explicit Twins(const SmallProblem& problem);

  /// Whether everything with the task on this core has been seen.
  bool seen(std::uint32_t task, std::uint32_t core) const { return !seen_.empty() && seen_[task * cores_ + core] > 0; }
  /// All with the task on the core was tried: remembered for its twins, until the search leaves the partial placement
  /// in which that was so.
  void remember(std::uint32_t task, std::uint32_t core) { count(task, core, 1); }
  void forget(std::uint32_t task, std::uint32_t core) { count(task, core, -1); }

 private:
  void count(std::uint32_t task, std::uint32_t core, int step);

  std::uint32_t cores_;
  std::vector<std::vector<std::uint32_t>> twins_of_;  // by task
  std::vector<int> seen_;                             // by task and core: how often; empty when there are no twins
};

}  // namespace rankloom
