// SPDX-License-Identifier: Apache-2.0
// core: how long work tells its caller how far it is, and learns that its time is up.
#pragma once

#include <chrono>
#include <string_view>

namespace rankloom {

/// Receives progress; the default listens to nothing. Called from one thread, as often as the worker likes.
class Progress {
 public:
  virtual ~Progress() = default;
  /// fraction in 0..1, or negative when the end is not known.
  virtual void report(std::string_view /*stage*/, double /*fraction*/) {}

  static Progress& none() {
    static Progress silent;
    return silent;
  }
};

/// A moment after which a search returns the best it has. The default never comes.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline() = default;
  static Deadline in(std::chrono::milliseconds budget) { return Deadline(Clock::now() + budget); }
  bool passed() const { return limited_ && Clock::now() >= end_; }
  bool limited() const { return limited_; }
  /// Until it comes; the longest of all times if it never does.
  Clock::duration left() const { return limited_ ? end_ - Clock::now() : Clock::duration::max(); }

 private:
  explicit Deadline(Clock::time_point end) : limited_(true), end_(end) {}
  bool limited_ = false;
  Clock::time_point end_{};
};

}  // namespace rankloom
