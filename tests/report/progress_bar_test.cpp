// SPDX-License-Identifier: Apache-2.0
// tests of report: the progress line.
#include "rankloom/report/terminal/progress_bar.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rankloom {
namespace {

using ::testing::HasSubstr;

TEST(ProgressLine, ShowsABarWhenTheEndIsKnown) {
  EXPECT_EQ(progress_line("mapping", 0.5, 2.04, 80),
            "mapping  [####################                    ]   50 %  2.0 s");
}

TEST(ProgressLine, HasNoBarWhenTheEndIsNotKnown) {
  EXPECT_EQ(progress_line("reading", -1, 1.5, 80), "reading  1.5 s");
}

TEST(ProgressLine, FitsTheTerminal) {
  for (const std::size_t width : {20, 30, 40, 60, 100}) {
    const std::string line = progress_line("mapping", 1.0, 3, width);
    EXPECT_TRUE(line.find('[') == std::string::npos || line.size() < width) << line;
  }
  EXPECT_EQ(progress_line("mapping", 1.0, 3, 20).find('['), std::string::npos);
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

TEST(ProgressBar, IsSilentAtFirst) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressBar bar(file.get(), true, std::chrono::hours(1));
    bar.report("mapping", 0.1);
  }
  EXPECT_EQ(content(file.get()), "");
}

TEST(ProgressBar, DrawsAfterTheSilenceAndErasesItselfAtTheEnd) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressBar bar(file.get(), true, std::chrono::milliseconds(0));
    bar.report("mapping", 0.25);
    while (content_now(file.get()).find("25 %") == std::string::npos) std::this_thread::yield();
  }
  const std::string drawn = content(file.get());
  EXPECT_THAT(drawn, HasSubstr("mapping"));
  EXPECT_THAT(drawn, HasSubstr("25 %"));
  EXPECT_TRUE(drawn.ends_with("\r\x1b[K"));
}

TEST(ProgressBar, DrawsNothingWhenNotEnabled) {
  const File file(std::tmpfile(), std::fclose);
  {
    ProgressBar bar(file.get(), false, std::chrono::milliseconds(0));
    bar.report("mapping", 0.25);
    bar.finish();
  }
  EXPECT_EQ(content(file.get()), "");
}

}  // namespace
}  // namespace rankloom
