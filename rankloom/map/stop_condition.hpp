// SPDX-License-Identifier: Apache-2.0
// map: the stop condition of a search: the deadline of the run, with progress reports on the way.
#pragma once

#include <cstdint>
#include <string_view>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Once the deadline has passed, the condition stays true.
class StopCondition {
 public:
  StopCondition(const MapRun& run, std::string_view stage)
      : deadline_(run.deadline), progress_(&run.progress), stage_(stage) {}
  /// Without progress reports, for threads other than the caller's.
  explicit StopCondition(const Deadline& deadline) : deadline_(deadline) {}
  StopCondition for_another_thread() const { return StopCondition(deadline_); }

  /// How far the search is, as Progress::report takes it; reported at the next check of the clock.
  void set_fraction(double fraction) { fraction_ = fraction; }

  /// True when the search has to end. Checks the clock on every 32nd call only, so that a step of the search may be as
  /// short as one evaluation of a swap.
  bool should_stop() {
    if (++calls_ % 32 == 0) check_clock();
    return stopped_;
  }
  /// The same with a check of the clock on every call, for long steps.
  bool should_stop_now() {
    check_clock();
    return stopped_;
  }
  /// The result of the last check.
  bool stopped() const { return stopped_; }

 private:
  void check_clock() {
    if (progress_ != nullptr) progress_->report(stage_, fraction_);
    stopped_ = stopped_ || deadline_.passed();
  }

  Deadline deadline_;
  Progress* progress_ = nullptr;
  std::string_view stage_;
  double fraction_ = -1;
  std::uint64_t calls_ = 0;
  bool stopped_ = false;
};

/// The note of a search that was stopped.
inline constexpr std::string_view stopped_note = "stopped by the time budget; the best so far";

}  // namespace rankloom
