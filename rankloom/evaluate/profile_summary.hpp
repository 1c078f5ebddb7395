// SPDX-License-Identifier: Apache-2.0
// evaluate: a summary of a communication profile: volume, operations, heaviest pairs, time in MPI.
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

/// The traffic of two ranks in both directions; a < b.
struct PairTraffic {
  Rank a{}, b{};
  Volume volume;
};

struct OperationTotal {
  CollectiveOp op{};
  double calls = 0;
  double bytes = 0;  ///< Of all blocks of all calls.
};

/// One operation on one communicator.
struct GroupTotal {
  std::uint32_t communicator = 0;  ///< Index into Profile::communicators.
  CollectiveOp op{};
  double calls = 0;
  double bytes = 0;  ///< Of all blocks of all calls.
};

/// Summed over all ranks.
struct TimeShare {
  double seconds_in_mpi = 0;
  double seconds_outside = 0;
  double min_share = 0, max_share = 0;  ///< The minimum and maximum share of MPI over all ranks.
  double share() const {
    const double total = seconds_in_mpi + seconds_outside;
    return total > 0 ? seconds_in_mpi / total : 0;
  }
};

/// Where and how wide the ranks were.
struct LocationSummary {
  std::size_t hosts = 0;
  std::uint32_t min_cpus = 0, max_cpus = 0;        ///< Processing units of a rank.
  std::uint32_t min_threads = 0, max_threads = 0;  ///< Of a rank; 0: unknown.
};

struct ProfileSummary {
  std::uint32_t ranks = 0;
  Volume between_ranks;  ///< Point to point, without messages of a rank to itself.
  Volume to_itself;
  Volume collectives;                        ///< As expanded by the collective model.
  std::vector<OperationTotal> operations;    ///< In descending order of bytes.
  std::vector<GroupTotal> groups;            ///< With the most bytes, in descending order.
  std::uint64_t pairs = 0;                   ///< Pairs of ranks with point-to-point traffic.
  std::uint32_t ranks_without_partners = 0;  ///< Ranks without point-to-point traffic.
  double mean_partners = 0;
  std::uint32_t max_partners = 0;
  CommGraph traffic;                  ///< The total traffic between pairs, as mappers use it.
  std::vector<PairTraffic> heaviest;  ///< In descending order of bytes, then by rank.
  std::optional<TimeShare> time;      ///< If it was recorded.
  std::optional<LocationSummary> location;
};

/// O(edges log degree). With at most `top` pairs and groups. Fails if the expanded collectives do not fit into memory.
Result<ProfileSummary> summarise(const Profile& profile, CollectiveModel model, std::size_t top);

/// One phase as a profile. `name` is the name of the phase or its number, counted from 1.
Result<Profile> extract_phase(const Profile& profile, const std::string& name);

}  // namespace rankloom
