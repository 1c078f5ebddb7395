// SPDX-License-Identifier: Apache-2.0
// core: how long-running work reports progress and learns that its time is over.
#pragma once

#include <chrono>
#include <string_view>

namespace rankloom {

/// Receives progress reports; this base class ignores them. Called from one thread, at any rate.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `fraction` is in 0..1, or negative if the amount of work is unknown.
  virtual void report(std::string_view /*stage*/, double /*fraction*/) {}

  static Progress& none() {
    static Progress silent;
    return silent;
  }
};

/// The time at which a search returns its best result so far. By default there is no limit.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline() = default;
  static Deadline in(std::chrono::milliseconds budget) { return Deadline(Clock::now() + budget); }
  bool passed() const { return limited_ && Clock::now() >= end_; }
  bool limited() const { return limited_; }
  /// The end of a fraction of the time that is left now; no limit if there is none.
  Deadline after(double fraction) const {
    if (!limited_) return {};
    const auto part = std::chrono::duration<double>(end_ - Clock::now()) * fraction;
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(part));
  }
  /// The time until the deadline; the maximum duration if there is no limit.
  Clock::duration left() const { return limited_ ? end_ - Clock::now() : Clock::duration::max(); }

 private:
  explicit Deadline(Clock::time_point end) : limited_(true), end_(end) {}
  bool limited_ = false;
  Clock::time_point end_{};
};

}  // namespace rankloom
