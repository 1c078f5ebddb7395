// SPDX-License-Identifier: Apache-2.0
// report/terminal: the progress bar.
#include "rankloom/report/terminal/progress_bar.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "rankloom/report/terminal/table.hpp"

namespace rankloom {

namespace {

constexpr std::chrono::milliseconds interval{100};
constexpr std::string_view erase_line = "\r\x1b[K";

std::size_t columns_of(std::FILE* terminal) {
  winsize size{};
  if (::ioctl(::fileno(terminal), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string progress_line(std::string_view stage, double fraction, double seconds, std::size_t width) {
  const std::string time = fmt::format("{:.1f} s", seconds);
  if (fraction < 0) return fmt::format("{}  {}", stage, time);
  fraction = std::min(fraction, 1.0);
  const std::string end = fmt::format("{:3.0f} %  {}", fraction * 100, time);
  const std::size_t taken =
      display_width(stage) + end.size() + 7;  // spaces, brackets, and the last column, which stays empty
  if (width < taken + 10) return fmt::format("{}  {}", stage, end);
  const std::size_t bar = std::min<std::size_t>(width - taken, 40);
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(bar));
  return fmt::format("{}  [{}{}]  {}", stage, std::string(full, '#'), std::string(bar - full, ' '), end);
}

ProgressBar::ProgressBar(std::FILE* terminal, bool enabled, std::chrono::milliseconds silence) : terminal_(terminal) {
  if (enabled) thread_ = std::thread([this, silence] { draw_until_finished(silence); });
}

ProgressBar::~ProgressBar() {
  finish();
}

void ProgressBar::report(std::string_view stage, double fraction) {
  const std::lock_guard lock(mutex_);
  if (stage_ != stage) stage_ = std::string(stage);
  fraction_ = fraction;
}

void ProgressBar::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (drawn_) {
    fmt::print(terminal_, "{}", erase_line);
    std::fflush(terminal_);
  }
}

void ProgressBar::draw_until_finished(std::chrono::milliseconds silence) {
  std::unique_lock lock(mutex_);
  auto pause = silence;
  while (!wake_.wait_for(lock, pause, [this] { return finished_; })) {
    pause = interval;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    fmt::print(terminal_, "{}{}", erase_line, progress_line(stage_, fraction_, elapsed.count(), columns_of(terminal_)));
    std::fflush(terminal_);
    drawn_ = true;
  }
}

}  // namespace rankloom
