// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/memory.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

/// A directory like /sys/fs/cgroup.
class ControlGroups : public ::testing::Test {
 protected:
  void add(const std::string& group, const std::string& file, const std::string& content) {
    std::filesystem::create_directories(directory_->path() + group);
    ASSERT_TRUE(write_file(directory_->path() + group + "/" + file, content + "\n"));
  }
  std::optional<double> limit(const std::string& groups) { return control_group_limit(groups, directory_->path()); }

  Result<TemporaryDirectory> directory_ = TemporaryDirectory::make();
};

TEST_F(ControlGroups, TheLowestLimitOfVersion2OnThePathCounts) {
  add("/a", "memory.max", "3000");
  add("/a/b", "memory.max", "max");
  add("/a/b/c", "memory.max", "4000");
  add("/other", "memory.max", "10");
  EXPECT_THAT(limit("0::/a/b/c\n"), Optional(3000));
  EXPECT_EQ(limit("0::/\n"), std::nullopt);
}

TEST_F(ControlGroups, TheLimitOfVersion1Counts) {
  add("/memory/job", "memory.limit_in_bytes", "5000");
  add("/memory", "memory.limit_in_bytes", "9223372036854771712");
  EXPECT_THAT(limit("12:cpu,cpuacct:/job\n5:memory:/job\n0::/job\n"), Optional(5000));
  EXPECT_EQ(limit("12:cpu,cpuacct:/job\n"), std::nullopt);
  EXPECT_EQ(limit("5:memory:/\n"), std::nullopt);
}

TEST_F(ControlGroups, InAContainerThePathOfTheHostIsMissingAndTheRootCounts) {
  add("", "memory.max", "7000");
  EXPECT_THAT(limit("0::/system.slice/docker-1234.scope\n"), Optional(7000));
}

TEST(UsableMemory, IsAtMostTheLimitOfTheAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit little{1 << 28, 1 << 28};
    ::setrlimit(RLIMIT_AS, &little);
    const UsableMemory memory = usable_memory();
    const auto checked = check_memory(at("here"), "this", 1 << 29, "use less");
    ::_exit(memory.bytes == (1 << 28) && !checked && checked.error().what.find("ulimit -v") != std::string::npos ? 0
                                                                                                                 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(UsableMemory, RejectsWhatDoesNotFit) {
  EXPECT_GT(usable_memory().bytes, 1e6);
  EXPECT_TRUE(check_memory(at("here"), "this", 1, ""));
  EXPECT_THAT(check_memory(at("here"), "this", 1e17, "").error().what, HasSubstr("needs 100 PB of memory"));
}

}  // namespace
}  // namespace rankloom
