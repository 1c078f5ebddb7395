// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/file.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

TEST_F(FileTest, ALargeFileIsReadInSeveralParts) {
  std::string content;
  while (content.size() < (std::size_t{20} << 20)) content += std::to_string(content.size()) + '\n';
  ASSERT_TRUE(write_file(path("a"), content));
  const auto text = read_file(path("a"));
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->view() == content);  // without 20 MB of text in the message
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

TEST_F(FileTest, AFileThatShrinksKeepsItsContent) {
  ASSERT_TRUE(write_file(path("a"), std::string(100'000, 'x')));
  const auto text = read_file(path("a"));
  ASSERT_TRUE(text);
  fs::resize_file(path("a"), 0);
  EXPECT_EQ(text->view(), std::string(100'000, 'x'));
}

TEST_F(FileTest, ADeviceIsNotAFile) {
  for (const char* const device : {"/dev/zero", "/dev/full", "/dev/urandom"}) {
    const auto text = read_file(device);
    ASSERT_FALSE(text) << device;
    EXPECT_EQ(text.error().code, Code::bad_input);
    EXPECT_EQ(text.error().what, "is a device, not a file");
  }
  EXPECT_EQ(read_file("/dev/null")->view(), "");
}

TEST_F(FileTest, AFileThatDoesNotFitIntoMemoryIsAnError) {
  ASSERT_TRUE(write_file(path("a"), ""));
  fs::resize_file(path("a"), std::uintmax_t{1} << 42);  // sparse: needs no disk
  const auto text = read_file(path("a"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::environment);
  EXPECT_NE(text.error().what.find("of memory"), std::string::npos);
}

TEST_F(FileTest, FilesOfUnknownSizeAreRead) {
  const auto text = read_file("/proc/self/status");
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->view().starts_with("Name:"));
}

TEST_F(FileTest, PipesOfAnySizeAreRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string content(1'000'003, 'p');
  std::thread writer([&] { std::ofstream(path("pipe")) << content; });
  const auto text = read_file(path("pipe"));
  writer.join();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), content);
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

TEST_F(FileTest, ADanglingLinkStaysALinkToTheNewFile) {
  fs::create_directory(path("elsewhere"));
  fs::create_symlink("elsewhere/real", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("elsewhere/real"))->view(), "new");
}

TEST_F(FileTest, LinksThatFormALoopAreAnError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  const auto done = write_file(path("a"), "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::usage);
  EXPECT_TRUE(fs::is_symlink(path("a")));
}

TEST_F(FileTest, ANewFileHasThePermissionsOfTheUmask) {
  const mode_t mask = ::umask(027);
  ASSERT_TRUE(write_file(path("a"), "x"));
  ::umask(mask);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, AReplacedFileKeepsItsPermissionsAndOwner) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  fs::permissions(path("a"), fs::perms(0600));
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::chown(path("a").c_str(), 65534, 65534), 0);
  }
  ASSERT_TRUE(write_file(path("a"), "new"));
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  if (is_root) {
    EXPECT_EQ(status.st_uid, 65534U);
    EXPECT_EQ(status.st_gid, 65534U);
  }
}

TEST_F(FileTest, AWriteProtectedFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to every file";
  ASSERT_TRUE(write_file(path("a"), "old"));
  fs::permissions(path("a"), fs::perms(0400));
  EXPECT_FALSE(write_file(path("a"), "new"));
  EXPECT_EQ(read_file(path("a"))->view(), "old");
}

/// A child process that is killed while it writes a file.
void write_and_be_killed(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)write_file(path, [](Sink& sink) -> Result<void> {
      sink.write(std::string(100'000, 'x'));
      ::raise(SIGKILL);
      return {};
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(FileTest, TheNextWriteRemovesTheTemporaryFileOfAKilledProcess) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  write_and_be_killed(path("a"));
  EXPECT_EQ(read_file(path("a"))->view(), "old");
  EXPECT_EQ(files(), 2U);
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_EQ(read_file(path("a"))->view(), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, TwoWritersOfOneFileDoNotRemoveEachOthersTemporaryFiles) {
  const auto done = write_file(path("a"), [&](Sink& sink) -> Result<void> {
    sink.write("outer");
    return write_file(path("a"), "inner");
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(read_file(path("a"))->view(), "outer");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, BeyondTheFileSizeLimitTheOldFileStays) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &most);
    const auto done = write_file(path("a"), std::string(100'000, 'x'));
    ::_exit(!done && done.error().code == Code::environment ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path("a"))->view(), "old");
  EXPECT_EQ(files(), 1U);
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
