// SPDX-License-Identifier: Apache-2.0
// report/terminal: a progress bar that vanishes when the work is done.
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

/// Draws nothing during the silence, then ten times per second in its own thread, so that work without progress
/// reports is also visible. A disabled bar has no thread and draws nothing.
class ProgressBar : public Progress {
 public:
  ProgressBar(std::FILE* terminal, bool enabled, std::chrono::milliseconds silence = std::chrono::seconds(1));
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void report(std::string_view stage, double fraction) override;
  /// Erases the line; call it before printing anything else.
  void finish();

 private:
  void draw_until_finished(std::chrono::milliseconds silence);
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
