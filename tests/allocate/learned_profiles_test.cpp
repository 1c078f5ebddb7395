// SPDX-License-Identifier: Apache-2.0
// Tests of the store of learned profiles.
#include "rankloom/allocate/scheduler/learned_profiles.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LearnedStore : public ::testing::Test {
 protected:
  LearnedProfiles open(const LearnedLimits& limits = {}) {
    auto profiles = LearnedProfiles::open(path(), limits);
    EXPECT_TRUE(profiles) << profiles.error().what;
    return *profiles;
  }
  std::string path() const { return scratch_->file("learned"); }
  static LearnedRun run(const std::string& job, std::uint32_t ranks = 8) {
    return {.job = job, .program = "/opt/app", .ranks = ranks, .program_bytes = 100, .program_written_ns = -5};
  }
  static std::string content(const LearnedProfiles::Found& found) {
    return found.file.empty() ? "" : std::string(read_file(found.file)->view());
  }
  static std::vector<std::string> jobs(LearnedProfiles& profiles) {
    std::vector<std::string> names;
    const auto all = profiles.list();
    EXPECT_TRUE(all);
    if (!all) return names;
    for (const LearnedProfile& profile : *all) names.push_back(profile.run.job);
    return names;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path())) count += entry.path().extension() == ".prof" ? 1 : 0;
    return count;
  }

  Result<TemporaryDirectory> scratch_ = TemporaryDirectory::make();
};

TEST_F(LearnedStore, ReturnsTheProfileOfAnEqualRun) {
  LearnedProfiles profiles = open();
  EXPECT_EQ(profiles.find(run("a"))->file, "");
  EXPECT_EQ(profiles.find(run("a"))->why, "");
  ASSERT_TRUE(profiles.add(run("a"), "first"));
  EXPECT_EQ(content(*profiles.find(run("a"))), "first");
  EXPECT_EQ(content(*open().find(run("a"))), "first") << "another process";
  ASSERT_TRUE(profiles.add(run("a"), "second"));
  EXPECT_EQ(content(*profiles.find(run("a"))), "second");
  EXPECT_EQ(files(), 1U);
}

TEST_F(LearnedStore, SaysWhyAProfileDoesNotFit) {
  LearnedProfiles profiles = open();
  ASSERT_TRUE(profiles.add(run("a"), "profile"));
  EXPECT_EQ(profiles.find(run("a", 16))->why, "the profile of app is for 8 ranks, not for 16");
  LearnedRun other = run("a");
  other.program = "/opt/other";
  EXPECT_EQ(profiles.find(other)->why, "the profile of job a is that of /opt/app");
  LearnedRun larger = run("a"), newer = run("a");
  ++larger.program_bytes;
  ++newer.program_written_ns;
  for (const LearnedRun& changed : {larger, newer})
    EXPECT_EQ(profiles.find(changed)->why, "/opt/app has changed since its profile was recorded");
  EXPECT_EQ(profiles.find(run("b"))->why, "");
}

TEST_F(LearnedStore, IgnoresAMissingOrDamagedFile) {
  LearnedProfiles profiles = open();
  ASSERT_TRUE(profiles.add(run("a"), "profile"));
  const std::string file = profiles.find(run("a"))->file;
  ASSERT_TRUE(write_file(file, "pr0file"));
  EXPECT_THAT(profiles.find(run("a"))->why, HasSubstr("missing or damaged"));
  EXPECT_EQ(profiles.find(run("a"))->file, "");
  fs::remove(file);
  EXPECT_THAT(profiles.find(run("a"))->why, HasSubstr("missing or damaged"));
  ASSERT_TRUE(profiles.add(run("a"), "profile"));
  EXPECT_EQ(content(*profiles.find(run("a"))), "profile");
}

TEST_F(LearnedStore, KeepsTheProfilesThatWereUsedLast) {
  LearnedProfiles profiles = open({.max_profiles = 3});
  for (const char* const job : {"a", "b", "c"}) ASSERT_TRUE(profiles.add(run(job), job));
  EXPECT_EQ(content(*profiles.find(run("a"))), "a");
  ASSERT_TRUE(profiles.add(run("d"), "d"));
  EXPECT_THAT(jobs(profiles), ElementsAre("d", "a", "c"));
  EXPECT_EQ(files(), 3U);
}

TEST_F(LearnedStore, IsBoundedInBytes) {
  LearnedProfiles profiles = open({.max_bytes = 25, .max_profile_bytes = 20});
  for (const char* const job : {"a", "b", "c"}) ASSERT_TRUE(profiles.add(run(job), std::string(10, 'x')));
  EXPECT_THAT(jobs(profiles), ElementsAre("c", "b"));
  EXPECT_THAT(profiles.add(run("d"), std::string(21, 'x')).error().what, HasSubstr("more than 20"));
  ASSERT_TRUE(profiles.add(run("d"), std::string(20, 'x')));
  EXPECT_THAT(jobs(profiles), ElementsAre("d"));
}

TEST_F(LearnedStore, FindsTheNewestProfileOfAJobWithoutTheDatabase) {
  EXPECT_FALSE(newest_learned_profile(path(), "a"));
  LearnedProfiles profiles = open();
  ASSERT_TRUE(profiles.add(run("a", 8), "eight"));
  const std::string first = profiles.find(run("a", 8))->file;
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  ASSERT_TRUE(profiles.add(run("a", 16), "sixteen"));
  ASSERT_TRUE(profiles.add(run("b"), "other"));
  const auto newest = newest_learned_profile(path(), "a");
  ASSERT_TRUE(newest);
  EXPECT_EQ(read_file(*newest)->view(), "sixteen");
}

TEST_F(LearnedStore, RemovesProfilesAndNoOtherFiles) {
  LearnedProfiles profiles = open();
  for (const char* const job : {"a", "b"}) ASSERT_TRUE(profiles.add(run(job), job));
  ASSERT_TRUE(write_file(path() + "/mine.prof", "x"));
  EXPECT_EQ(*profiles.remove("a"), 1U);
  EXPECT_EQ(*profiles.remove("a"), 0U);
  EXPECT_THAT(jobs(profiles), ElementsAre("b"));
  EXPECT_EQ(*profiles.remove(std::nullopt), 1U);
  EXPECT_THAT(jobs(profiles), IsEmpty());
  EXPECT_EQ(files(), 1U);
}

TEST_F(LearnedStore, ConcurrentProcessesLoseNothing) {
  constexpr int processes = 6, profiles_each = 4;
  std::vector<::pid_t> children;
  for (int process = 0; process < processes; ++process) {
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    bool good = true;
    for (int number = 0; number < profiles_each; ++number) {
      auto profiles = LearnedProfiles::open(path());
      good = good && profiles && profiles->add(run(fmt::format("{}-{}", process, number)), "profile");
    }
    ::_exit(good ? 0 : 1);
  }
  for (const ::pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  LearnedProfiles profiles = open();
  EXPECT_EQ(profiles.list()->size(), static_cast<std::size_t>(processes * profiles_each));
  EXPECT_EQ(files(), static_cast<std::size_t>(processes * profiles_each));
}

/// A process that adds profiles is killed again and again. Every profile that is listed is complete.
TEST_F(LearnedStore, IsConsistentAfterCrashes) {
  const std::string large(200'000, 'x');
  for (int kill = 0; kill < 12; ++kill) {
    const ::pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (std::uint32_t ranks = 2;; ranks = ranks % 9 + 2) {
        auto profiles = LearnedProfiles::open(path(), {.max_profiles = 4});
        if (profiles) (void)profiles->add(run("a", ranks), large + std::to_string(ranks));
      }
    }
    // The time is arbitrary: wherever the process is, the result is the same.
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 7 * kill));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    LearnedProfiles profiles = open({.max_profiles = 4});
    const auto all = profiles.list();
    ASSERT_TRUE(all);
    for (const LearnedProfile& profile : *all)
      EXPECT_EQ(content(*profiles.find(profile.run)), large + std::to_string(profile.run.ranks));
  }
  LearnedProfiles profiles = open({.max_profiles = 4});
  ASSERT_TRUE(profiles.add(run("b"), "profile"));
  EXPECT_EQ(files(), profiles.list()->size()) << "files of killed processes are removed";
}

TEST_F(LearnedStore, RefusesADamagedDatabase) {
  { ASSERT_TRUE(open().add(run("a"), "profile")); }
  const std::string database = path() + "/profiles.sqlite";
  ASSERT_TRUE(write_file(database, std::string(5000, 'x')));
  const auto refused = LearnedProfiles::open(path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_input);
  EXPECT_THAT(refused.error().hint, HasSubstr("slurm profiles remove --all"));
  ASSERT_TRUE(remove_learned_store(path()));
  LearnedProfiles profiles = open();
  EXPECT_THAT(jobs(profiles), IsEmpty());
  EXPECT_EQ(files(), 0U);
}

TEST_F(LearnedStore, StartsAgainWithTheEmptyFileOfAKilledProcess) {
  fs::create_directories(path());
  ASSERT_TRUE(write_file(path() + "/profiles.sqlite", ""));
  LearnedProfiles profiles = open();
  EXPECT_THAT(jobs(profiles), IsEmpty());
}

TEST_F(LearnedStore, RecordingsKnowTheirRun) {
  const LearnedProfiles profiles = open();
  LearnedRun named = run("a job\nof two lines");
  auto directory = profiles.begin_recording(named);
  ASSERT_TRUE(directory);
  const auto read = recorded_run(*directory);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job, named.job);
  EXPECT_EQ(read->program, named.program);
  EXPECT_EQ(read->ranks, named.ranks);
  EXPECT_EQ(read->program_bytes, named.program_bytes);
  EXPECT_EQ(read->program_written_ns, named.program_written_ns);
  EXPECT_FALSE(recorded_run(path()));
}

TEST_F(LearnedStore, AbandonedRecordingsAreRemovedAfterAWeek) {
  const LearnedProfiles profiles = open();
  const auto old = profiles.begin_recording(run("a")), young = profiles.begin_recording(run("a"));
  fs::last_write_time(*old, fs::last_write_time(*old) - std::chrono::hours(24 * 8));
  ASSERT_TRUE(profiles.begin_recording(run("b")));
  EXPECT_FALSE(fs::exists(*old));
  EXPECT_TRUE(fs::exists(*young));
}

TEST(LearnedDirectory, IsThatOfTheSiteOrOfTheUser) {
  EXPECT_EQ(learned_directory("", "ann", "/home/ann/data"), "/home/ann/data/rankloom/learned");
  EXPECT_EQ(learned_directory("/shared/rankloom", "ann", "/home/ann/data"), "/shared/rankloom/ann");
  EXPECT_EQ(data_directory("", "/home/ann"), "/home/ann/.local/share");
  EXPECT_EQ(data_directory("/data", "/home/ann"), "/data");
  EXPECT_EQ(data_directory("data", "/home/ann"), "/home/ann/.local/share") << "the standard ignores relative paths";
  EXPECT_EQ(data_directory("", ""), "");
}

}  // namespace
}  // namespace rankloom
