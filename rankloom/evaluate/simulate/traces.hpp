// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: the traces that a simulation replays, in SimGrid's time-independent format: recorded ones, or
// synthetic ones for programs of which only a profile was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// The files of a recorded trace, one per rank. `path` is the directory of the trace (with smpi_simgrid.txt), the file
/// that lists the files, or one file that contains all ranks. Fails if a file is missing or the number of files is
/// wrong.
Result<std::vector<std::string>> trace_files(const std::string& path, std::uint32_t ranks);

struct SynthesisOptions {
  std::uint32_t iterations = 1;  ///< The number of rounds (iterations) to write.
  bool compute = true;           ///< Include the time outside MPI, if the profile has it.
  /// Instead of the recorded time: mean seconds of work per rank and round, proportional to the loads of the ranks if
  /// the profile has loads.
  std::optional<double> work = std::nullopt;
  CollectiveModel collectives = CollectiveModel::tree;
};

struct SyntheticTrace {
  std::vector<std::string> files;  ///< One per rank.
  std::uint32_t iterations = 0;
  double rounds = 1;  ///< The number of rounds of the complete run.
  std::uint64_t messages = 0;
  /// For SimulationRequest: ranks wait for every message, so that eager sends make no difference.
  static constexpr std::uint32_t eager = 0;
};

/// Of the point-to-point messages (model/graph/exchange_rounds.hpp); without them, the calls of the most frequent
/// collective.
double estimate_rounds(const Profile& profile);

/// Writes one file per rank into the directory. In each round a rank works, posts all receives and sends, and waits for
/// them; then it takes part in the collectives, in the order of the profile, as messages of the collective model with
/// one level (split_by_nodes() gives a profile with two levels). Together these are all pairs of the profile, divided
/// into rounds. Pairs with several messages per round exchange them
/// one after another; pairs with fewer messages than rounds send in some of the rounds. Messages have the mean size of
/// their pair and are split above 256 MB. Fails if there is not enough disk space. O(edges + collectives x members) per
/// round.
Result<SyntheticTrace> synthesise_trace(const Profile& profile, const SynthesisOptions& options,
                                        const std::string& directory);

}  // namespace rankloom
