// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/process/profile_store.hpp"

#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom::app {
namespace {

namespace fs = std::filesystem;

class Store : public ::testing::Test {
 protected:
  std::string add(const StoredProgram& program) {
    auto file = store_.add(program, *generate("ring:ranks=4"));
    EXPECT_TRUE(file) << to_string(file.error());
    return file.value_or("");
  }
  static StoredProgram program(const std::string& path, const std::string& arguments, std::uint32_t ranks) {
    return {.path = path, .scripts = {}, .arguments = arguments, .ranks = ranks};
  }
  static void make_older(const std::string& file, int hours) {
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(hours));
  }

  TemporaryDirectory directory_ = *TemporaryDirectory::make();
  ProfileStore store_{fs::path(directory_.path()) / "a" / "b"};
};

TEST_F(Store, FindsTheProfileOfAProgramAndNumberOfRanks) {
  const std::string file = add(program("/x/app", "input", 4));
  EXPECT_TRUE(fs::exists(file));
  const auto found = store_.find(program("/x/app", "input", 4));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, file);
  EXPECT_TRUE(found->same_arguments);
  EXPECT_FALSE(store_.find(program("/x/app", "input", 8)));
  EXPECT_FALSE(store_.find(program("/y/app", "input", 4)));
  EXPECT_FALSE(store_.find(program("/x/ap", "input", 4)));
}

TEST_F(Store, WithOtherArgumentsTheNewestProfileIsFound) {
  const std::string old_file = add(program("/x/app", "a", 4)), new_file = add(program("/x/app", "b", 4));
  make_older(old_file, 1);
  const auto found = store_.find(program("/x/app", "c", 4));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, new_file);
  EXPECT_FALSE(found->same_arguments);
  EXPECT_EQ(store_.find(program("/x/app", "a", 4))->file, old_file);
}

TEST_F(Store, RemovesTheOldestProfilesAndNothingElse) {
  const std::string first = add(program("/x/app", "first", 4));
  make_older(first, 2);
  const fs::path other = store_.directory() / "thesis.prof";
  ASSERT_TRUE(fs::copy_file(first, other));
  make_older(other.string(), 3);
  for (int i = 0; i < 64; ++i) add(program("/x/app", fmt::format("{}", i), 4));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(store_.find(program("/x/app", "0", 4))->same_arguments);
}

TEST_F(Store, AProgramIsTheFileThatIsExecuted) {
  const fs::path program = fs::path(directory_.path()) / "app", link = fs::path(directory_.path()) / "link";
  ASSERT_TRUE(write_file(program.string(), "x"));
  fs::create_symlink(program, link);
  const auto named = [](const std::string& name) {
    LaunchCommand command;
    command.programs.push_back({.options = {}, .arguments = {name, "-n", "a b"}});
    return stored_program(command, 4);
  };
  EXPECT_EQ(named(link.string()).path, fs::canonical(program).string());
  EXPECT_EQ(named(program.string()).arguments, "-n 'a b'\n");
  EXPECT_EQ(named("true").path.front(), '/');
  EXPECT_EQ(named("no such program").path, "no such program");
}

TEST_F(Store, AScriptBelongsToTheProgram) {
  const std::string script = directory_.file("a.py"), other = directory_.file("b.py");
  for (const std::string& file : {script, other}) ASSERT_TRUE(write_file(file, "x"));
  const auto started = [](const std::string& file, const std::string& argument) {
    LaunchCommand command;
    command.programs.push_back({.options = {}, .arguments = {"true", file, argument}});
    return stored_program(command, 4);
  };
  add(started(script, "1"));
  EXPECT_TRUE(store_.find(started(script, "1"))->same_arguments);
  EXPECT_FALSE(store_.find(started(script, "2"))->same_arguments);
  EXPECT_FALSE(store_.find(started(other, "1")));
}

}  // namespace
}  // namespace rankloom::app
