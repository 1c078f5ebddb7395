// SPDX-License-Identifier: Apache-2.0
// report/terminal: the progress of long work.
#include "rankloom/report/terminal/progress_display.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "rankloom/core/text/control_characters.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {

namespace {

constexpr std::string_view erase_line = "\r\x1b[K";
/// Estimates from less work or time are wrong by a multiple.
constexpr double min_fraction_for_estimate = 0.01, min_seconds_for_estimate = 1;

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  if (::ioctl(::fileno(terminal), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string left_text(const ProgressState& state) {
  if (!state.left) return {};
  return fmt::format(", about {} left", format_seconds(std::max(1.0, std::round(*state.left))));
}

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::string progress_bar(const ProgressState& state, std::size_t width) {
  const std::string time = state.seconds < 120 ? fmt::format("{:.1f} s", state.seconds) : format_seconds(state.seconds);
  // The last column stays empty.
  const auto fits = [&](const std::string& line) { return display_width(line) < width; };
  std::string end = time;
  if (state.fraction >= 0) {
    const double fraction = std::min(state.fraction, 1.0);
    end = fmt::format("{:3.0f} %  {}{}", fraction * 100, time, left_text(state));
    constexpr std::size_t spaces_and_brackets = 7, min_bar = 10, max_bar = 40;
    const std::size_t taken = display_width(state.stage) + display_width(end) + spaces_and_brackets;
    if (width >= taken + min_bar) {
      const std::size_t bar = std::min(width - taken, max_bar);
      const auto full = static_cast<std::size_t>(fraction * static_cast<double>(bar));
      return fmt::format("{}  [{}{}]  {}", state.stage, std::string(full, '#'), std::string(bar - full, ' '), end);
    }
  }
  std::string line = fmt::format("{}  {}", state.stage, end);
  return fits(line) ? line : end;
}

std::string progress_log_line(const ProgressState& state) {
  std::string text = state.stage;
  if (state.fraction >= 0) text += fmt::format(", {:.0f} %", std::min(state.fraction, 1.0) * 100);
  return text + fmt::format(", {} so far{}", format_seconds(std::round(state.seconds)), left_text(state));
}

ProgressDisplay::ProgressDisplay(std::FILE* file, ProgressForm form, ProgressPace pace) : file_(file), form_(form) {
  if (form != ProgressForm::none) thread_ = std::thread([this, pace] { show_until_finished(pace); });
}

ProgressDisplay::~ProgressDisplay() {
  finish();
}

void ProgressDisplay::report(std::string_view stage, double fraction) {
  const std::lock_guard lock(mutex_);
  if (stage_ != stage) stage_ = without_controls(stage);
  // A fraction that does not grow belongs to other work.
  if (fraction < 0 || fraction_ < 0 || fraction < fraction_) {
    stage_start_ = Clock::now();
    fraction_at_stage_start_ = std::max(fraction, 0.0);
  }
  fraction_ = fraction;
}

void ProgressDisplay::print(std::string_view line) {
  const std::lock_guard lock(mutex_);
  erase();
  fmt::print(file_, "{}\n", without_controls(line));
  std::fflush(file_);
}

void ProgressDisplay::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  thread_.join();
  erase();
}

void ProgressDisplay::erase() {
  if (!std::exchange(drawn_, false)) return;
  fmt::print(file_, "{}", erase_line);
  std::fflush(file_);
}

ProgressState ProgressDisplay::state() const {
  const auto now = Clock::now();
  ProgressState state{.stage = stage_, .fraction = fraction_, .seconds = seconds_between(start_, now), .left = {}};
  const double done = fraction_ - fraction_at_stage_start_, seconds = seconds_between(stage_start_, now);
  if (fraction_ >= 0 && fraction_ < 1 && done >= min_fraction_for_estimate && seconds >= min_seconds_for_estimate)
    state.left = seconds / done * (1 - fraction_);
  return state;
}

void ProgressDisplay::show_until_finished(ProgressPace pace) {
  std::unique_lock lock(mutex_);
  auto pause = pace.silence;
  while (!wake_.wait_for(lock, pause, [this] { return finished_; })) {
    pause = pace.interval;
    if (form_ == ProgressForm::bar) {
      fmt::print(file_, "{}{}", erase_line, progress_bar(state(), columns_of(file_)));
      drawn_ = true;
    } else {
      fmt::print(file_, "rankloom: {}\n", progress_log_line(state()));
    }
    std::fflush(file_);
  }
}

}  // namespace rankloom
