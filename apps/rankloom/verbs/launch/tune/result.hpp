// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: what `rankloom tune` finds: the speedup of the mapped program over the default placement, and
// the reason when there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/statistics.hpp"

namespace rankloom::app {

/// How long the launcher takes to start and end a program that does nothing.
struct StartTimes {
  double before_seconds = 0, after_seconds = 0;
};

/// Times of the runs with the default placement and with a mapping, by pair, and what they show.
struct TuneMeasurement {
  /// How many hardware threads of each core the ranks use, if they are others than those of the command; 0: they are
  /// not.
  std::uint32_t threads_per_core = 0;
  std::vector<double> before_seconds, after_seconds;  ///< With a rate: the seconds of one unit of work, 1 / rate.
  PairedComparison comparison;
  std::optional<StartTimes> start;
  std::uint64_t confirmed = 0;  ///< Ranks of the last mapped run that run where the mapping places them.
  bool verified = true;         ///< All ranks of all mapped runs do.
  bool out_of_time = false;     ///< More runs did not fit into --max-time.

  /// "the mapping", or "1 hardware thread per core"
  std::string placement() const;
};

/// Whether a cost or a time is reduced enough to try it.
bool is_reduction(double before, double after);

/// A mapping that ran to find the fastest one.
struct TuneCandidate {
  std::string goal, name;  ///< "time", "time on 8 nodes"
  std::uint32_t nodes = 0;
  double predicted_seconds = 0;
  std::vector<double> seconds = {};  ///< Of its runs. With a rate: 1 / rate.
  int status = 0;                    ///< Of the program, if it failed with this mapping.
  bool chosen = false;
};

/// A run of the program that failed.
struct FailedRun {
  std::string run;                ///< "the recording run"
  int status = 0;                 ///< Of the program.
  std::string log;                ///< The file with its output.
  std::vector<std::string> tail;  ///< The last lines of its output.
  bool mapped = false;            ///< It ran with the mapping, and succeeded with the default placement before.

  Error error(const std::string& command) const;
};

/// With the last lines of its log.
FailedRun failed_run(std::string run, int status, const std::string& log);

/// Times in a simulation of the recorded messages.
struct TunePrediction {
  double before_seconds = 0, after_seconds = 0;
  double speedup() const { return after_seconds > 0 ? before_seconds / after_seconds : 1; }
};

enum class TuneVerdict : std::uint8_t {
  gain,
  same,
  slower,
  not_by_placement,  ///< Faster by more than the recorded share of MPI allows.
  faster_start,      ///< Faster, because the launcher starts the ranks faster.
  too_few_runs,
  not_measured,
};

/// The time in seconds that the first group of a regular expression matches, in the last line where it does.
std::optional<double> last_metric(std::string_view output, const std::string& expression);

/// A rate that a program prints: "12.5 GB/s".
struct Rate {
  double value = 0;
  std::string unit = {};  ///< Empty: none was matched.

  /// In another unit that differs only by a prefix: 12500 from GB/s to MB/s.
  double in(const std::string& other) const;
};

/// The same for a rate.
std::optional<Rate> last_rate(std::string_view output, const std::string& expression);

struct TuneResult {
  std::string command;      ///< As it is typed into a shell.
  std::string directory;    ///< Contains everything that was recorded, computed and measured.
  std::string profile;      ///< The file that was given instead of recording; empty: recorded.
  std::string topology;     ///< The file that was given instead of discovering; empty: discovered.
  std::string metric = {};  ///< The regular expression of the measured time; empty: the time of the whole program.
  bool higher_is_better = false;  ///< The metric is a rate.
  std::string unit = {};          ///< Of the rate, as the program prints it.

  std::uint64_t ranks = 0, cores = 0, nodes = 0;
  double collectives_share = 0;        ///< Of the traffic.
  std::optional<double> share_in_mpi;  ///< Of the time.

  std::string mapper;
  double cost = 0, cost_default = 0;
  std::vector<TuneCandidate> candidates = {};  ///< With --candidates, by predicted time.
  double candidate_seconds = 0;                ///< How long their runs took.
  std::optional<TunePrediction> prediction;
  std::optional<TuneMeasurement> measurement;  ///< Absent: nothing was run, because no gain was to be expected.
  std::vector<TuneMeasurement> others = {};    ///< Of the other mappings that were measured.
  std::string smt_not_tried = {};              ///< Why no other number of hardware threads was measured.
  std::vector<std::string> replaced = {};      ///< Options of the user that the mapping replaces, as written.
  std::string use;                             ///< The command with the mapping; empty: there is none.
  std::string run;                             ///< The call of `rankloom run` that does the same.

  std::optional<FailedRun> failed;  ///< Then nothing else is known.

  /// Chooses the mapping with the largest gain, or the first one if none has a gain.
  void choose(std::vector<TuneMeasurement> measurements);
  /// The result if this were the chosen mapping.
  TuneResult with(TuneMeasurement candidate) const;
  /// The mapping reduces the communication cost enough to try it.
  bool reduces_cost() const;
  /// The simulation predicts a speedup, or was not requested.
  bool predicts_gain() const;
  /// The share of the time in MPI is large enough for a measurable gain, or not known.
  bool can_gain() const;
  TuneVerdict verdict() const;
  bool gain() const { return verdict() == TuneVerdict::gain; }
  /// A mapping changes only the time in MPI, so this bounds the speedup (Amdahl 1967), unless ranks use other hardware
  /// threads.
  std::optional<double> max_speedup() const;
  /// The measured ratio, or an end of its interval, as far as the mapping can be the cause.
  double attributed(double ratio) const;
  /// By how much the launcher starts the ranks faster with the mapping.
  double start_seconds_saved() const;
  /// The ratio if the launcher took as long with the mapping as with the default placement.
  double without_faster_start(double ratio) const;
  /// Why there is no gain; empty if there is one.
  std::string reason() const;

  /// A measured time, or the rate that it stands for.
  std::string measured_text(double seconds) const;

  /// result.json
  Json json() const;
  /// For people.
  std::string conclusion() const;
};

}  // namespace rankloom::app
