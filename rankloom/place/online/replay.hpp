// SPDX-License-Identifier: Apache-2.0
// place/online: what moving would have brought: recorded windows under the planner, under mappings that never change,
// and under the best of all of them in each window (Cruz 2019, Figure 9).
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/model/profile.hpp"
#include "rankloom/place/online/planner.hpp"

namespace rankloom {

struct ReplayRow {
  std::string name;
  std::string about;
  double cost = 0;          ///< Seconds of all ranks together, by the model; moves included.
  double gain_percent = 0;  ///< Against block.
  std::uint32_t bursts = 0;
  std::uint64_t moved = 0;
};

struct ReplayTable {
  std::vector<ReplayRow> rows;  ///< Static mappings, then `online`, then `oracle`.
  std::vector<OnlinePhase> phases;
  std::vector<OnlineDecision> decisions;
  std::size_t windows = 0, kinds = 0;
};

/// The phases of a profile in which windows of time were kept, as an agent would have seen them. Fails without them.
Result<std::vector<OnlineWindow>> windows_of(const Profile& profile, CollectiveModel collectives);

/// One node; ranks begin in the launchers' default order. The oracle knows all of the mappings of the table and one for
/// each phase that was found, and moves for nothing.
Result<ReplayTable> replay_online(const std::vector<OnlineWindow>& windows, const Topology& topology,
                                  const OnlineOptions& options, Progress& progress);

}  // namespace rankloom
