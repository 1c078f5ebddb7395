// SPDX-License-Identifier: Apache-2.0
// evaluate: a trace made from a profile, for programs of which no trace was recorded: rounds of its messages and
// collectives, in SimGrid's time-independent format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

struct SynthesisOptions {
  std::uint32_t iterations = 1;  ///< Rounds that are written.
  bool compute = true;           ///< With the profile's time outside MPI, where it is known.
  /// Instead of that: seconds of work of a rank in each round, more and less by the ranks' loads where the profile has
  /// any.
  std::optional<double> work = std::nullopt;
  CollectiveModel collectives = CollectiveModel::tree;
};

struct SynthesisedTrace {
  std::vector<std::string> files;  ///< One for each rank.
  std::uint32_t iterations = 0;
  double rounds = 1;  ///< So many rounds are the whole run that the profile tells of.
  std::uint64_t messages = 0;
  /// For SimulationRequest: every message is waited for, so nothing is gained by sending ahead.
  static constexpr std::uint32_t eager = 0;
};

/// How many rounds the run consists of: the number of messages that pairs exchanged with which 95 % of the bytes went;
/// so in a round most pairs exchange one message or a few.
double rounds_of(const Profile& profile);

/// Writes one file for each rank into the folder. In each round a rank works, then posts all its receives and sends and
/// waits for them (pairs with several messages a round in turns), then takes part in the collectives, in the profile's
/// order, as messages of the model's shapes; so the traffic is that of traffic(profile, model), cut into rounds.
/// Pairs with fewer messages than rounds send in some of the rounds. Messages have their pair's mean size; beyond 256
/// MB they go in pieces. Fails when the disk has no room for it. O(edges + collectives x members) a round.
Result<SynthesisedTrace> synthesise(const Profile& profile, const SynthesisOptions& options, const std::string& folder);

}  // namespace rankloom
