// SPDX-License-Identifier: Apache-2.0
// place/online: detects when the communication pattern of a program changes (Cruz 2019, Section 5.4). A window whose
// pattern is distant from that of the current phase is a suspected change; the next window confirms or refutes it, so
// that a single outlier moves no rank. A pattern that occurred before is recognised immediately, and the length of its
// earlier phases predicts the length of this one. Three sorts of windows do not establish a new kind of phase: windows
// with few messages (the ranks had no CPU time), windows that resemble none of their neighbours, and windows in which
// one phase ended and a known one began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// The traffic of the ranks of a node in an interval of time. Vertex loads are seconds of CPU time outside MPI; without
/// loads they are unknown.
struct TrafficWindow {
  double begin = 0, end = 0;  ///< Seconds.
  CommGraph traffic;
  double seconds() const { return end - begin; }
};

/// The communication pattern of a window, independent of its volume: the fraction of all bytes that each pair of ranks
/// exchanges in both directions. Empty: there is no traffic.
class TrafficPattern {
 public:
  TrafficPattern() = default;
  explicit TrafficPattern(const CommGraph& traffic);
  bool empty() const { return fractions_.empty(); }
  /// The total variation distance. 0: equal fractions for all pairs; 1: no pair in common.
  friend double distance(const TrafficPattern& a, const TrafficPattern& b);

 private:
  std::vector<std::pair<std::uint64_t, double>> fractions_;  // sorted by pair
};

double distance(const TrafficPattern& a, const TrafficPattern& b);

struct PhaseOptions {
  double leave_distance = 0.40;  ///< A window more distant than this from the current phase may end the phase.
  double join_distance = 0.25;   ///< A window closer than this to a kind of phase belongs to that kind.
  /// With fewer messages per rank, a window shows which ranks had CPU time rather than the communication pattern.
  double min_messages_per_rank = 16;
  double min_message_fraction =
      0.25;                         ///< With fewer messages relative to the average, a window waits for the next one.
  double mixture_tolerance = 0.10;  ///< A mixture of two patterns lies at most this far from the line between them.
  int max_mixture_windows = 4;      ///< A mixture in more windows than this is a pattern of its own.
};

/// An interval of time with one communication pattern.
struct OnlinePhase {
  std::size_t kind = 0;  ///< Phases of one kind have similar patterns.
  double begin = 0;      ///< Beginning of the first window that differs from the previous phase.
  double end = 0;
  std::size_t windows = 0;
  std::size_t detected_after = 1;  ///< The number of its windows until it was detected.
};

class PhaseDetector {
 public:
  explicit PhaseDetector(PhaseOptions options = {}) : options_(options) {}

  /// Adds the next window. True: this window starts a phase, or reveals that an earlier window did.
  bool add_window(const TrafficWindow& window);

  /// In order of time; the last one is the current phase. Empty until the first traffic.
  const std::vector<OnlinePhase>& phases() const { return phases_; }
  std::size_t kinds() const { return kinds_.size(); }
  /// The total traffic of phases of a kind and its duration, without windows that contain two phases.
  const CommGraph& traffic(std::size_t kind) const { return kinds_[kind].traffic; }
  double seconds(std::size_t kind) const { return kinds_[kind].seconds; }
  std::size_t windows(std::size_t kind) const { return kinds_[kind].windows; }

  /// The number of phases of a kind, including the current one.
  std::size_t occurrences(std::size_t kind) const { return kinds_[kind].occurrences; }
  /// The mean time until a new phase is detected; two windows before the first detection.
  double mean_detection_seconds() const;

  /// How much longer the current phase is expected to last: until the mean length of its kind. If the kind of the phase
  /// is new, or the phase is already longer, its expected remaining time equals the time it has already lasted.
  double expected_remaining_seconds() const;

 private:
  struct Kind {
    TrafficPattern pattern;
    CommGraph traffic;
    double seconds = 0;
    std::size_t windows = 0;
    double finished_seconds = 0;  // of phases that are over
    std::size_t finished = 0;
    std::size_t occurrences = 0;
  };
  bool has_too_few_messages(const TrafficWindow& window, std::size_t windows) const;
  bool classify(const TrafficWindow& window, std::size_t windows);
  void suspect_change(const TrafficWindow& window, std::size_t windows, const TrafficPattern& pattern);
  bool is_new_kind(const TrafficPattern& pattern) const;
  void begin_phase(std::size_t kind, const TrafficWindow& window, double begin, std::size_t windows);
  void accumulate(std::size_t kind, const TrafficWindow& window);
  std::optional<std::size_t> closest_kind(const TrafficPattern& pattern) const;

  PhaseOptions options_;
  std::vector<Kind> kinds_;
  std::vector<OnlinePhase> phases_;
  std::optional<TrafficWindow> pending_;  // consecutive windows with too few messages, merged until there are enough
  std::size_t pending_windows_ = 0;
  std::optional<double> suspected_begin_;  // beginning of the first window that differs from the current phase
  std::size_t suspected_windows_ = 0, silent_windows_ = 0;
  int suspicions_ = 0;
  TrafficPattern suspected_, previously_suspected_;  // the latest two windows that differ from the current phase
  double mean_messages_ = 0;                         // per window, moving average
};

}  // namespace rankloom
