// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: what `rankloom tune` finds: the speedup of the mapped program over the default placement, and the
// reason when there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"

namespace rankloom::app {

/// Times of the runs with the default placement and with the mapping, in turn.
struct TuneMeasurement {
  std::vector<double> before_seconds, after_seconds;
  std::uint64_t confirmed = 0;  ///< Ranks of the last run that run where the mapping places them.
  bool verified = true;         ///< All ranks of all runs do.

  /// The ratio of the mean times, and its standard deviation, which follows from those of both means.
  double speedup() const;
  double speedup_spread() const;
  /// Faster by more than 2 %: either by twice the spread, or every mapped run is faster than every default one.
  bool is_faster() const;
  /// Every mapped run is slower than every default one by more than 2 %.
  bool is_slower() const;
};

/// Times in a simulation of the recorded messages.
struct TunePrediction {
  double before_seconds = 0, after_seconds = 0;
  double speedup() const { return after_seconds > 0 ? before_seconds / after_seconds : 1; }
};

struct TuneResult {
  std::string command;    ///< As it is typed into a shell.
  std::string directory;  ///< Contains everything that was recorded, computed and measured.
  std::string profile;    ///< The file that was given instead of recording; empty: recorded.
  std::string topology;   ///< The file that was given instead of discovering; empty: discovered.

  std::uint64_t ranks = 0, cores = 0, nodes = 0;
  double collectives_share = 0;        ///< Of the traffic.
  std::optional<double> share_in_mpi;  ///< Of the time.

  std::string mapper;
  double cost = 0, cost_default = 0;
  std::optional<TunePrediction> prediction;
  std::optional<TuneMeasurement> measurement;  ///< Absent: nothing was run, because no gain was to be expected.
  std::string use;                             ///< The command with the mapping; empty: there is none.

  /// The mapping reduces the communication cost enough to try it.
  bool reduces_cost() const;
  /// The simulation predicts a speedup, or was not requested.
  bool predicts_gain() const;
  bool gain() const { return measurement && measurement->is_faster(); }
  /// Why there is no gain; empty if there is one.
  std::string reason() const;

  /// result.json
  Json json() const;
  /// For people. `mapping` and `machine` are the files for `rankloom run`.
  std::string conclusion(const std::string& mapping, const std::string& machine) const;
};

}  // namespace rankloom::app
