// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/temporary_directory.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "of-this-test-";

class TemporaryDirectories : public ::testing::Test {
 protected:
  std::string make() { return TemporaryDirectory::make(parent_->path(), prefix)->path(); }
  std::string path(const std::string& name) const { return parent_->file(name); }
  Result<TemporaryDirectory> parent_ = TemporaryDirectory::make();
};

TEST_F(TemporaryDirectories, AreRemovedWithTheirContent) {
  std::string made;
  {
    auto directory = TemporaryDirectory::make(parent_->path(), prefix);
    ASSERT_TRUE(directory);
    made = directory->path();
    ASSERT_TRUE(write_file(directory->file("a"), "x"));
  }
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(TemporaryDirectories, OfKilledProcessesAreRemovedByTheNextOne) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto directory = TemporaryDirectory::make(parent_->path(), prefix);
    (void)write_file(directory->file("a"), "x");
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto count = [&] { return std::distance(fs::directory_iterator(parent_->path()), fs::directory_iterator()); };
  EXPECT_EQ(count(), 2);  // with the lock of the parent directory
  make();
  EXPECT_EQ(count(), 1);
}

TEST_F(TemporaryDirectories, OfRunningProcessesStay) {
  auto first = TemporaryDirectory::make(parent_->path(), prefix);
  make();
  EXPECT_TRUE(fs::exists(first->file("lock")));
}

TEST_F(TemporaryDirectories, OthersWithASimilarNameStay) {
  // All have the form of our names. None has a lock file that we wrote.
  for (const char* const name : {"of-this-test-thesis", "of-this-test-abcdef", "of-this-test-notmad"}) {
    fs::create_directory(path(name));
    ASSERT_TRUE(write_file(path(name) + "/chapter", "1"));
  }
  ASSERT_TRUE(write_file(path("of-this-test-thesis/lock"), "locked by an editor\n"));
  ASSERT_TRUE(write_file(path("of-this-test-abcdef/lock"), ""));
  fs::create_directory(path("target"));
  ASSERT_TRUE(write_file(path("target/lock"), ""));
  fs::create_symlink(path("target"), path("of-this-test-linked"));
  make();
  for (const char* const name :
       {"of-this-test-thesis/chapter", "of-this-test-thesis/lock", "of-this-test-abcdef/chapter",
        "of-this-test-abcdef/lock", "of-this-test-notmad/chapter", "target/lock"})
    EXPECT_TRUE(fs::exists(path(name))) << name;
}

TEST_F(TemporaryDirectories, OfOtherHostsStay) {
  fs::create_directory(path("of-this-test-remote"));
  ASSERT_TRUE(write_file(path("of-this-test-remote/lock"), "temporary directory of rankloom on another-host\n"));
  make();
  EXPECT_TRUE(fs::exists(path("of-this-test-remote")));
}

TEST_F(TemporaryDirectories, OfOtherUsersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  auto other = TemporaryDirectory::make(parent_->path(), prefix);
  const std::string copy = path("of-this-test-others");
  fs::copy(other->path(), copy, fs::copy_options::recursive);
  ASSERT_EQ(::chown(copy.c_str(), 65534, 65534), 0);
  make();
  EXPECT_TRUE(fs::exists(copy));
  ASSERT_EQ(::chown(copy.c_str(), 0, 0), 0);
  make();
  EXPECT_FALSE(fs::exists(copy));
}

}  // namespace
}  // namespace rankloom
