// SPDX-License-Identifier: Apache-2.0
// place/online: when a program begins to talk otherwise (Cruz 2019, 5.4). A window that is far from the phase that goes
// on is a suspicion; the next one confirms it or not, so that a stray window moves nobody. A pattern that was there
// before is recognised at once, and how long it lasted then tells how long it may last now. No new kind begins with a
// window that only looks new: one with hardly any messages (its ranks were kept waiting), one that is like none of its
// neighbours, or one in which one phase ended and a known one began.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "rankloom/place/online/traffic_pattern.hpp"

namespace rankloom {

struct PhaseOptions {
  double leave = 0.40;    ///< Farther than this from the phase: it may be over.
  double join = 0.25;     ///< Nearer than this to a kind of phase: it is that kind.
  double messages = 16;   ///< Of each rank on average: with fewer, who was quicker tells more than who talks to whom.
  double starved = 0.25;  ///< Of the messages that windows usually have: with fewer, the window waits for the next.
  double between = 0.10;  ///< A mixture of two patterns is no farther than this from the way between them.
  int mixed_windows = 4;  ///< A mixture that lasts longer than this many windows is a pattern of its own.
};

/// A stretch of time in which the ranks talk alike.
struct OnlinePhase {
  std::size_t kind = 0;  ///< Phases of one kind are alike.
  double begin = 0;      ///< Of the first window that was unlike the phase before.
  double end = 0;
  std::size_t windows = 0;
  std::size_t found_after = 1;  ///< Windows of it that had passed when it was found.
};

class PhaseFinder {
 public:
  explicit PhaseFinder(PhaseOptions options = {}) : options_(options) {}

  /// True: a phase begins, or is found to have begun with the window before.
  bool take(const OnlineWindow& window);

  /// In order; the last one goes on. Empty until somebody says something.
  const std::vector<OnlinePhase>& phases() const { return phases_; }
  std::size_t kinds() const { return kinds_.size(); }
  /// All that was said in phases of this kind, but for windows that belong to two; and in how many seconds.
  const CommGraph& traffic(std::size_t kind) const { return kinds_[kind].traffic; }
  double seconds(std::size_t kind) const { return kinds_[kind].seconds; }
  std::size_t windows(std::size_t kind) const { return kinds_[kind].windows; }

  /// Phases of this kind so far, the one that goes on included.
  std::size_t times(std::size_t kind) const { return kinds_[kind].times; }
  /// How long it takes until a phase that has begun is found, on average; two windows until one was found.
  double found_after_seconds() const;

  /// How much longer the phase may last: as phases of its kind did; one that is new, or already longer than those, as
  /// long again as it has lasted.
  double expected_rest() const;

 private:
  struct Kind {
    TrafficPattern pattern;
    CommGraph traffic;
    double seconds = 0;
    std::size_t windows = 0;
    double finished_seconds = 0;  // of phases that are over
    std::size_t finished = 0;
    std::size_t times = 0;
  };
  bool is_thin(const OnlineWindow& window, std::size_t windows) const;
  bool take_whole(const OnlineWindow& window, std::size_t windows);
  void suspect(const OnlineWindow& window, std::size_t windows, const TrafficPattern& pattern);
  bool is_confirmed(const TrafficPattern& pattern) const;
  void begin(std::size_t kind, const OnlineWindow& window, double since, std::size_t windows);
  void add(std::size_t kind, const OnlineWindow& window);
  std::optional<std::size_t> find_kind(const TrafficPattern& pattern) const;

  PhaseOptions options_;
  std::vector<Kind> kinds_;
  std::vector<OnlinePhase> phases_;
  std::optional<OnlineWindow> thin_;  // windows with too few messages, together, until there are enough
  std::size_t thin_windows_ = 0;
  std::optional<double> suspicion_;  // when the window began that is unlike the phase
  std::size_t suspected_windows_ = 0, silent_windows_ = 0;
  int suspicions_ = 0;
  TrafficPattern suspected_, suspected_before_;  // the latest window that is unlike the phase, and the one before it
  double usual_messages_ = 0;                    // of a window, the latest ones counting most
};

}  // namespace rankloom
