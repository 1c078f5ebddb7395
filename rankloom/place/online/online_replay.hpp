// SPDX-License-Identifier: Apache-2.0
// place/online: replays recorded windows to evaluate online mapping: the cost with the planner's moves, with static
// mappings, and with the best of these mappings in each window (Cruz 2019, Figure 9).
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/place/online/online_planner.hpp"

namespace rankloom {

struct OnlineReplayRow {
  std::string name;
  std::string description;
  double cost = 0;          ///< Seconds of all ranks under the model, including the cost of moves.
  double gain_percent = 0;  ///< Relative to the block placement.
  std::uint32_t migrations = 0;
  std::uint64_t moved = 0;  ///< Ranks moved in all migrations.
};

struct OnlineReplayTable {
  std::vector<OnlineReplayRow> rows;  ///< Static mappings, then `online`, then `oracle`.
  std::vector<OnlinePhase> phases;
  std::vector<OnlineDecision> decisions;
  std::size_t windows = 0, kinds = 0;
};

/// The windows of a recorded profile as an agent would have read them. Fails if the profile has no windows.
Result<std::vector<TrafficWindow>> windows_from_profile(const Profile& profile, CollectiveModel collectives);

/// Replays the windows on a machine of one node. Ranks start in the block placement. The oracle uses the best static
/// mapping of the table in each window, without cost for moves. The table has one static mapping per kind of phase.
Result<OnlineReplayTable> replay_online(const std::vector<TrafficWindow>& windows, const Topology& topology,
                                        const OnlineOptions& options, Progress& progress);

}  // namespace rankloom
