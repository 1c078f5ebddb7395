// SPDX-License-Identifier: Apache-2.0
// map: what a search asks between two steps: is my time up? It tells the caller that it is alive on the way.
#pragma once

#include <cstdint>
#include <string_view>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Looks at the clock on every 32nd step only, so that a step may be as short as one change of cost. Once the time is
/// up it stays up.
class Pulse {
 public:
  Pulse(const MapRun& run, std::string_view stage) : deadline_(run.deadline), progress_(&run.progress), stage_(stage) {}
  /// Without a listener, for threads other than the caller's.
  explicit Pulse(const Deadline& deadline) : deadline_(deadline) {}

  /// How far the search is, as Progress::report takes it; told to the listener with the next look at the clock.
  void set_fraction(double fraction) { fraction_ = fraction; }

  /// True when the search has to end.
  bool stop() {
    if (++steps_ % 32 == 0) look();
    return stopped_;
  }
  /// The same without skipping steps, for long ones.
  bool stop_now() {
    look();
    return stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  void look() {
    if (progress_ != nullptr) progress_->report(stage_, fraction_);
    stopped_ = stopped_ || deadline_.passed();
  }

  Deadline deadline_;
  Progress* progress_ = nullptr;
  std::string_view stage_;
  double fraction_ = -1;
  std::uint64_t steps_ = 0;
  bool stopped_ = false;
};

/// The note of a search that was stopped.
inline constexpr std::string_view stopped_note = "stopped by the time budget; the best so far";

}  // namespace rankloom
