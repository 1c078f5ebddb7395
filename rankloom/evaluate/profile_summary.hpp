// SPDX-License-Identifier: Apache-2.0
// evaluate: what a program does, at a glance: how much it says, by which calls, between whom, and for how long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

struct Volume {
  double bytes = 0;
  double messages = 0;
};

/// Two ranks, both directions together; a < b.
struct PairTraffic {
  Rank a{}, b{};
  Volume volume;
};

struct OperationTotal {
  CollectiveOp op{};
  double calls = 0;
  double bytes = 0;  ///< Of all blocks, as the program asked for them.
};

/// Summed over all ranks.
struct TimeShare {
  double seconds_in_mpi = 0;
  double seconds_outside = 0;
  double least_share = 0, most_share = 0;  ///< Of the ranks that spend least and most of their time in MPI.
  double share() const {
    const double total = seconds_in_mpi + seconds_outside;
    return total > 0 ? seconds_in_mpi / total : 0;
  }
};

struct ProfileSummary {
  std::uint32_t ranks = 0;
  Volume between_ranks;  ///< Point to point, without what ranks send to themselves.
  Volume to_itself;
  Volume collectives;                      ///< As the collective model turns them into messages between pairs.
  std::vector<OperationTotal> operations;  ///< The largest first.
  std::uint64_t pairs = 0;                 ///< Pairs of ranks that say anything point to point.
  std::uint32_t silent_ranks = 0;          ///< Ranks that neither send nor receive point to point.
  double mean_partners = 0;
  std::uint32_t most_partners = 0;
  CommGraph traffic;                  ///< All of it between pairs, as mappers see it.
  std::vector<PairTraffic> heaviest;  ///< Pairs by falling bytes of all traffic, of equals the lowest ranks.
  std::optional<TimeShare> time;      ///< Where it was recorded.
};

/// O(edges log degree). Fails when the collectives as pairs would not fit into memory.
Result<ProfileSummary> summarise(const Profile& profile, CollectiveModel model, std::size_t most_pairs);

/// One phase as a profile of its own: its traffic, on the same communicators. `name` is the phase's name or its number,
/// counted from 1.
Result<Profile> phase_of(const Profile& profile, const std::string& name);

}  // namespace rankloom
