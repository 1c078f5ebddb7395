// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rankloom {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rankloom-file-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  fs::path directory_;
};

TEST_F(FileTest, ReadsBackWhatIsWritten) {
  ASSERT_TRUE(write_file(path("a"), "hello\n"));
  const auto text = read_file(path("a"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "hello\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, AnEmptyFileHasNoContent) {
  ASSERT_TRUE(write_file(path("a"), ""));
  EXPECT_EQ(read_file(path("a"))->view(), "");
}

TEST_F(FileTest, ADirectoryIsNotAFile) {
  const auto text = read_file(directory_.string());
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::bad_input);
  EXPECT_FALSE(write_file(directory_.string(), "x"));
}

TEST_F(FileTest, AMissingDirectoryIsNamedInTheErrorAndHint) {
  const auto done = write_file(path("no/such/file"), "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::usage);
  EXPECT_NE(done.error().hint.find("mkdir"), std::string::npos);
}

TEST_F(FileTest, AFailedWriteKeepsTheOldFileAndNoTemporaryFile) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  const auto done = write_file(path("a"), [](Sink& sink) -> Result<void> {
    sink.write("new, but ");
    return fail(Code::bad_input, at("x"), "no more", "");
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(read_file(path("a"))->view(), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, AFullDeviceIsAnErrorAndStaysADevice) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto done = write_file("/dev/full", std::string(1 << 20, 'x'));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::environment);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, ASymbolicLinkStaysALinkToTheNewContent) {
  ASSERT_TRUE(write_file(path("real"), "old"));
  fs::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real"))->view(), "new");
}

TEST_F(FileTest, APipeReadsLikeAFile) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "1 2\n", 4), 4);
  ::close(ends[1]);
  const auto text = read_file("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "1 2\n");
  ::close(ends[0]);
}

}  // namespace
}  // namespace rankloom
