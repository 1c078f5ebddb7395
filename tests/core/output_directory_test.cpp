// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/output_directory.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Existing = OutputDirectory::Existing;

class Outputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_->file("out/" + name); }
  Result<OutputDirectory> open(Existing existing = Existing::own) {
    return OutputDirectory::open(directory_->file("out"), existing);
  }
  Result<void> write(const std::string& content, Existing existing = Existing::own) {
    auto output = open(existing);
    if (!output) return propagate(output);
    return output->write({{"hosts", content}, {"rankfile", content}});
  }
  std::string read(const std::string& name) const { return std::string(read_file(path(name))->view()); }

  Result<TemporaryDirectory> directory_ = TemporaryDirectory::make();
};

TEST_F(Outputs, AreReplacedByTheNextCommand) {
  ASSERT_TRUE(write("1"));
  ASSERT_TRUE(write("2"));
  EXPECT_EQ(read("hosts"), "2");
}

TEST_F(Outputs, ReplaceNoFileThatRankloomDidNotWrite) {
  fs::create_directory(directory_->file("out"));
  ASSERT_TRUE(write_file(path("rankfile"), "mine"));
  const auto done = write("1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::usage);
  EXPECT_THAT(done.error().where.source, HasSubstr("rankfile"));
  EXPECT_THAT(done.error().hint, HasSubstr("--force"));
  EXPECT_EQ(read("rankfile"), "mine");
  EXPECT_FALSE(fs::exists(path("hosts")));  // nothing was written
  EXPECT_FALSE(fs::exists(path(".rankloom")));
  ASSERT_TRUE(write("1", Existing::all));
  EXPECT_EQ(read("rankfile"), "1");
  ASSERT_TRUE(write("2"));
}

TEST_F(Outputs, ReplaceNoFileThatWasChangedAfterwards) {
  ASSERT_TRUE(write("1"));
  ASSERT_TRUE(write_file(path("hosts"), "1, with changes"));
  const auto done = write("2");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("was changed"));
  EXPECT_EQ(read("hosts"), "1, with changes");
}

TEST_F(Outputs, ReplaceNoLinkAndNoDirectory) {
  fs::create_directory(directory_->file("out"));
  ASSERT_TRUE(write_file(directory_->file("mine"), "mine"));
  fs::create_symlink(directory_->file("mine"), path("hosts"));
  EXPECT_FALSE(write("1"));
  EXPECT_EQ(read_file(directory_->file("mine"))->view(), "mine");
  fs::remove(path("hosts"));
  fs::create_directory(path("hosts"));
  EXPECT_FALSE(write("1", Existing::all));
}

TEST_F(Outputs, WithAnyContentAreListedBeforeTheyAreWritten) {
  {
    auto output = open();
    ASSERT_TRUE(output->reserve({"a.log"}));
    EXPECT_FALSE(output->owns("a.log"));
    ASSERT_TRUE(write_file(path("a.log"), "1"));
    EXPECT_TRUE(output->owns("a.log"));
  }
  auto output = open();
  EXPECT_TRUE(output->owns("a.log"));
  EXPECT_EQ(output->listed(), std::vector<std::string>{"a.log"});
  ASSERT_TRUE(write_file(path("b.log"), "mine"));
  output->remove("a.log");
  output->remove("b.log");
  EXPECT_FALSE(fs::exists(path("a.log")));
  EXPECT_TRUE(fs::exists(path("b.log")));
}

TEST_F(Outputs, OfAKilledCommandAreReplaced) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = open();
    (void)output->write({{"hosts", "1"}});
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(write("2"));
  EXPECT_EQ(read("hosts"), "2");
}

TEST_F(Outputs, ToleratesAListThatWasNotFinished) {
  ASSERT_TRUE(write("1"));
  const std::string list = read(".rankloom");
  for (std::size_t length = 0; length <= list.size(); ++length) {
    ASSERT_TRUE(write_file(path(".rankloom"), list.substr(0, length)));
    auto output = open();
    ASSERT_TRUE(output) << length;
    ASSERT_TRUE(output->reserve({"other"})) << length;
    EXPECT_TRUE(read(".rankloom").ends_with("\n- other\n")) << length;
  }
}

TEST_F(Outputs, AreNotListedInAFileOfTheUser) {
  fs::create_directory(directory_->file("out"));
  ASSERT_TRUE(write_file(path(".rankloom"), "my settings\n"));
  EXPECT_FALSE(write("1"));
  EXPECT_FALSE(write("1", Existing::all));
  EXPECT_EQ(read(".rankloom"), "my settings\n");
}

TEST_F(Outputs, LeaveNoDirectoryIfNothingIsWritten) {
  { ASSERT_TRUE(open()); }
  EXPECT_FALSE(fs::exists(directory_->file("out")));
}

TEST_F(Outputs, OfTwoCommandsAtOnceAreRefused) {
  auto first = open();
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr("another rankloom command"));
}

}  // namespace
}  // namespace rankloom
