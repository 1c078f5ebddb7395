// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/process/job_mapping.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom::app {
namespace {

using ::testing::HasSubstr;

class JobMappingTest : public ::testing::Test {
 protected:
  /// What the ranks of a command get, and what the user is told; the profile has as many ranks as `threads`.
  std::string fit(const Argv& command, const std::vector<std::uint32_t>& threads, const std::string& machine) {
    Profile profile = *generate("ring:ranks=" + std::to_string(threads.size()));
    profile.locations = {.hosts = {"somewhere"}, .cpu_sets = {"0-7"}, .of_ranks = {}};
    for (const std::uint32_t number : threads) profile.locations.of_ranks.push_back({0, 0, number});
    const std::string file = std::filesystem::path(directory_.path()) / "app.prof";
    EXPECT_TRUE(write_file(file, [&](Sink& sink) { return write_profile(profile, sink); }));
    const auto launch = parse_launch_command(command, "mpirun (Open MPI) 4.1.4");
    EXPECT_TRUE(launch) << to_string(launch.error());
    const auto shape = job_shape(*launch);
    EXPECT_TRUE(shape) << to_string(shape.error());
    JobMapping job(*launch->launcher, *shape, file, machine);
    EXPECT_TRUE(job.summarise());
    if (auto fitted = job.fit(); !fitted) return to_string(fitted.error());
    const char* const bound = job.bind() == EmitOptions::Bind::core ? "" : " unbound";
    return option_text(job.slots()) + bound + " | " + job.threads_remark();
  }

  TemporaryDirectory directory_ = *TemporaryDirectory::make();
};

const Argv one_program{"mpirun", "-n", "6", "./a"}, two_programs{"mpirun", "-n", "2", "./a", ":", "-n", "4", "./b"};

TEST_F(JobMappingTest, RanksGetAsManyCoresAsTheyHadThreads) {
  EXPECT_EQ(fit(one_program, {2, 2, 2, 2, 2, 2}, "node:2=10 core:8=1"),
            "--cores-per-rank 2 | 2 per rank: every rank gets 2 cores");
  EXPECT_EQ(fit(one_program, {3, 2, 2, 2, 2, 2}, "node:2=10 core:8=1"),
            "--cores-per-rank 2 | 2 per rank: every rank gets 2 cores");
  EXPECT_EQ(fit(one_program, {2, 1, 1, 1, 1, 1}, "node:2=10 core:8=1"), " | ") << "a helper thread of one rank";
  EXPECT_EQ(fit(one_program, {8, 8, 8, 8, 8, 8}, "node:2=10 core:8=1"),
            " unbound | 8 per rank, more than there are cores: ranks are not bound on their hosts");
}

TEST_F(JobMappingTest, RanksOfEachProgramGetAsManyCoresAsTheyHadThreads) {
  EXPECT_EQ(fit(two_programs, {4, 5, 1, 1, 1, 1}, "node:2=10 core:8=1"),
            "--cores-per-rank 2x4,4x1 | 1 to 4 per rank: every rank gets as many cores");
  EXPECT_EQ(fit(two_programs, {2, 2, 2, 2, 2, 2}, "node:2=10 core:8=1"),
            "--cores-per-rank 2 | 2 per rank: every rank gets 2 cores");
  EXPECT_EQ(fit(two_programs, {8, 8, 1, 1, 1, 1}, "node:2=10 core:8=1"),
            " unbound | 1 to 8 per rank, more than there are cores: ranks are not bound on their hosts");
}

TEST_F(JobMappingTest, TheCommandCounts) {
  const Argv wide{"mpirun", "-n", "2", "--map-by", "slot:PE=3", "./a", ":", "-n", "4", "--map-by", "slot:PE=1", "./b"};
  EXPECT_EQ(fit(wide, {8, 8, 8, 8, 8, 8}, "node:2=10 core:8=1"), "--cores-per-rank 2x3,4x1 | ");
  EXPECT_THAT(fit(wide, {1, 1, 1, 1, 1, 1}, "node:1=10 core:8=1"), HasSubstr("unbound | there are too few cores"));
}

}  // namespace
}  // namespace rankloom::app
