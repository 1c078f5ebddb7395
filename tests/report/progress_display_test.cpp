// SPDX-License-Identifier: Apache-2.0
// tests of report: the progress of long work.
#include "rankloom/report/terminal/progress_display.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rankloom/report/terminal/progress_part.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {
namespace {

using std::chrono::hours, std::chrono::milliseconds, std::chrono::seconds;
using ::testing::HasSubstr;

TEST(ProgressBar, ShowsABarWhenTheEndIsKnown) {
  EXPECT_EQ(progress_bar({.stage = "mapping", .fraction = 0.5, .seconds = 2.04, .left = {}}, 80),
            "mapping  [####################                    ]   50 %  2.0 s");
}

TEST(ProgressBar, EstimatesTheTimeThatIsLeft) {
  EXPECT_EQ(progress_bar({.stage = "3 of 12 runs", .fraction = 0.25, .seconds = 20, .left = 60.4}, 80),
            "3 of 12 runs  [#######                        ]   25 %  20.0 s, about 60 s left");
  EXPECT_THAT(progress_bar({.stage = "x", .fraction = 0.25, .seconds = 40'000, .left = 120'000}, 80),
              HasSubstr("25 %  11.1 h, about 33.3 h left"));
}

TEST(ProgressBar, HasNoBarWhenTheEndIsNotKnown) {
  EXPECT_EQ(progress_bar({.stage = "reading", .fraction = -1, .seconds = 1.5, .left = {}}, 80), "reading  1.5 s");
}

TEST(ProgressBar, FitsTheTerminal) {
  for (const std::size_t width : {20, 30, 40, 60, 100}) {
    for (const char* const stage : {"mapping", "a stage with a name that takes most of the columns of a terminal"}) {
      EXPECT_LT(display_width(progress_bar({.stage = stage, .fraction = 1, .seconds = 3, .left = {}}, width)), width);
      EXPECT_LT(display_width(progress_bar({.stage = stage, .fraction = -1, .seconds = 3, .left = {}}, width)), width);
    }
  }
  EXPECT_EQ(progress_bar({.stage = "mapping", .fraction = 1, .seconds = 3, .left = {}}, 30).find('['),
            std::string::npos);
}

TEST(ProgressLogLine, SaysHowLongItWillTake) {
  EXPECT_EQ(progress_log_line({.stage = "mapping", .fraction = -1, .seconds = 30.01, .left = {}}),
            "mapping, 30 s so far");
  EXPECT_EQ(progress_log_line({.stage = "3 of 4 runs", .fraction = 0.75, .seconds = 90, .left = 30.2}),
            "3 of 4 runs, 75 %, 90 s so far, about 30 s left");
}

TEST(ProgressPart, IsItsShareOfTheWhole) {
  struct Last : Progress {
    void report(std::string_view stage, double fraction) override {
      stage_ = stage;
      fraction_ = fraction;
    }
    std::string stage_;
    double fraction_ = 0;
  } whole;
  ProgressPart third(whole, 2, 4);
  third.report("mapping", 0.5);
  EXPECT_EQ(whole.stage_, "mapping");
  EXPECT_DOUBLE_EQ(whole.fraction_, 0.625);
  third.report("mapping", -1);  // unknown within the part
  EXPECT_DOUBLE_EQ(whole.fraction_, 0.5);
  ProgressPart(third, 1, 2).report("mapping", 0.5);
  EXPECT_DOUBLE_EQ(whole.fraction_, 0.6875);
  ProgressPart(whole, 0, 1).report("mapping", -1);  // the only part
  EXPECT_EQ(whole.fraction_, -1);
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::array<char, 4096> block{};
  return std::string(block.data(), std::fread(block.data(), 1, block.size(), file));
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// What another thread has written so far.
std::string content_now(std::FILE* file) {
  std::array<char, 4096> block{};
  const ssize_t size = ::pread(::fileno(file), block.data(), block.size(), 0);
  return std::string(block.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

void wait_for(std::FILE* file, std::string_view text) {
  while (content_now(file).find(text) == std::string::npos) std::this_thread::yield();
}

TEST(ProgressDisplay, IsSilentAtFirst) {
  for (const ProgressForm form : {ProgressForm::bar, ProgressForm::lines}) {
    const File file(std::tmpfile(), std::fclose);
    {
      ProgressDisplay display(file.get(), form, {hours(1), hours(1)});
      display.report("mapping", 0.1);
    }
    EXPECT_EQ(content(file.get()), "");
  }
}

TEST(ProgressDisplay, ABarIsErasedAtTheEnd) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressDisplay display(file.get(), ProgressForm::bar, {milliseconds(0), milliseconds(1)});
    display.report("mapping", 0.25);
    wait_for(file.get(), "25 %");
  }
  const std::string drawn = content(file.get());
  EXPECT_THAT(drawn, HasSubstr("mapping"));
  EXPECT_TRUE(drawn.ends_with("\r\x1b[K"));
}

TEST(ProgressDisplay, ALogGetsALineAfterEveryInterval) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressDisplay display(file.get(), ProgressForm::lines, {milliseconds(0), milliseconds(1)});
    display.report("mapping", 0.25);
    wait_for(file.get(), "rankloom: mapping, 25 %, 0 s so far\nrankloom: mapping, 25 %");
    display.report("a\nb", -1);
    wait_for(file.get(), "rankloom: a\\x0ab, 0 s so far\n");
  }
  const std::string log = content(file.get());
  EXPECT_EQ(log.find_first_of("\r\x1b"), std::string::npos);
  EXPECT_TRUE(log.ends_with('\n'));
}

TEST(ProgressDisplay, LogsHaveALineEvery30Seconds) {
  EXPECT_EQ(pace_of(ProgressForm::lines).silence, seconds(30));
  EXPECT_EQ(pace_of(ProgressForm::lines).interval, seconds(30));
}

TEST(ProgressDisplay, OtherLinesAreAboveTheBar) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressDisplay display(file.get(), ProgressForm::bar, {milliseconds(0), milliseconds(1)});
    display.report("mapping", 0.25);
    wait_for(file.get(), "25 %");
    display.print("the machine has 4 nodes");
    wait_for(file.get(), "\r\x1b[Kthe machine has 4 nodes\n");
  }
  const std::string drawn = content(file.get());
  EXPECT_GT(drawn.rfind("\x1b[K"), drawn.rfind("25 %"));
}

TEST(ProgressDisplay, DrawsNothingWhenNotEnabled) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressDisplay display(file.get(), ProgressForm::none, {milliseconds(0), milliseconds(0)});
    display.report("mapping", 0.25);
    display.finish();
  }
  EXPECT_EQ(content(file.get()), "");
}

}  // namespace
}  // namespace rankloom
