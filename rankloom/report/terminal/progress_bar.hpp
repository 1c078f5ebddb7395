// SPDX-License-Identifier: Apache-2.0
// report: a line on the terminal that says how far long work is, and vanishes when it is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "rankloom/core/progress.hpp"

namespace rankloom {

/// The line as it is drawn: "mapping  [######        ]  43 %  2.1 s"; without a bar when the fraction is negative.
std::string progress_line(std::string_view stage, double fraction, double seconds, std::size_t width);

/// Draws nothing in the first second, then ten times a second from a thread of its own, so that also work that reports
/// nothing is seen to be alive. A bar that is not enabled has no thread and draws nothing.
class ProgressBar : public Progress {
 public:
  ProgressBar(std::FILE* terminal, bool enabled);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void report(std::string_view stage, double fraction) override;
  /// Takes the line away for good, before something else is printed.
  void finish();

 private:
  void draw_until_finished();
  std::FILE* terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string stage_ = "working";
  double fraction_ = -1;
  bool finished_ = false;
  bool drawn_ = false;
  std::thread thread_;
};

}  // namespace rankloom
