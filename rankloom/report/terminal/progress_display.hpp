// SPDX-License-Identifier: Apache-2.0
// report/terminal: the progress of long work: a bar in a terminal, lines in the log of a batch job.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "rankloom/core/progress.hpp"

namespace rankloom {

enum class ProgressForm {
  none,
  bar,    ///< One line of a terminal, drawn again and again, which vanishes when the work is done.
  lines,  ///< Lines of a log file.
};

/// When progress is shown.
struct ProgressPace {
  std::chrono::milliseconds silence;   ///< Before it is shown first: short work shows nothing.
  std::chrono::milliseconds interval;  ///< Then how often.
};
constexpr ProgressPace pace_of(ProgressForm form) {
  using std::chrono::milliseconds, std::chrono::seconds;
  if (form == ProgressForm::bar) return {seconds(1), milliseconds(100)};
  return {seconds(30), seconds(30)};
}

/// What is known about the progress of a stage.
struct ProgressState {
  std::string stage = "working";
  double fraction = -1;        ///< Of the stage; negative: unknown.
  double seconds = 0;          ///< Since the start of all stages.
  std::optional<double> left;  ///< Seconds until the end of the stage, if they can be estimated.
};

/// "mapping  [######        ]  43 %  2.1 s, about 3 s left"; without a bar when the fraction is unknown.
std::string progress_bar(const ProgressState& state, std::size_t width);
/// "mapping, 43 %, 60 s so far, about 80 s left"
std::string progress_log_line(const ProgressState& state);

/// Shows progress in its own thread, so that work without progress reports is also visible.
class ProgressDisplay : public Progress {
 public:
  ProgressDisplay(std::FILE* file, ProgressForm form) : ProgressDisplay(file, form, pace_of(form)) {}
  ProgressDisplay(std::FILE* file, ProgressForm form, ProgressPace pace);
  ~ProgressDisplay() override;
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void report(std::string_view stage, double fraction) override;
  /// Prints a line, above the bar if there is one.
  void print(std::string_view line);
  /// Erases the bar; call it before printing anything else.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show_until_finished(ProgressPace pace);
  ProgressState state() const;
  void erase();

  std::FILE* file_;
  ProgressForm form_;
  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string stage_ = ProgressState().stage;
  double fraction_ = -1;
  Clock::time_point stage_start_ = start_;
  double fraction_at_stage_start_ = 0;
  bool finished_ = false;
  bool drawn_ = false;
  std::thread thread_;
};

}  // namespace rankloom
