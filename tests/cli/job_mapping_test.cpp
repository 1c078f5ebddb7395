// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/process/job_mapping.hpp"

#include <filesystem>
#include <set>

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
    const auto job = fitted(command, threads, machine);
    if (!job) return to_string(job.error());
    const char* const bound = job->bind() == EmitOptions::Bind::core ? "" : " unbound";
    return option_text(job->slots()) + bound + " | " + job->threads_remark();
  }

  /// What they get with another number of hardware threads per core, and how many threads OpenMP gets; 0: as many as
  /// processing units.
  std::string other(const Argv& command, const std::vector<std::uint32_t>& threads, const std::string& machine,
                    std::uint32_t openmp_threads = 0) {
    const auto job = fitted(command, threads, machine);
    if (!job) return to_string(job.error());
    const auto changed = job->with_other_threads_per_core(openmp_threads);
    if (!changed) return changed.error().what;
    const std::string file = std::filesystem::path(directory_.path()) / "other.map";
    EXPECT_TRUE(changed->map("block", file));
    EXPECT_TRUE(deployment_of(file, machine, {}));
    return option_text(changed->slots()) + " | " + std::to_string(changed->threads()) + " of OpenMP, " +
           std::to_string(changed->threads_per_core()) + " of a core";
  }

  Result<JobMapping> fitted(const Argv& command, const std::vector<std::uint32_t>& threads,
                            const std::string& machine) {
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
    if (auto done = job.fit(); !done) return propagate(done);
    return job;
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

TEST_F(JobMappingTest, CandidatesUseFewAndManyNodesUnlessTheCommandSaysHowMany) {
  const auto nodes_of = [this](const Argv& command) {
    const auto job = fitted(command, std::vector<std::uint32_t>(6, 1), "node:3=10,1us core:6=1,0.1us");
    EXPECT_TRUE(job) << to_string(job.error());
    const auto mapped = job->map("auto", std::filesystem::path(directory_.path()) / "app.map");
    EXPECT_TRUE(mapped) << to_string(mapped.error());
    const auto candidates = job->candidates("auto", *mapped);
    EXPECT_TRUE(candidates) << to_string(candidates.error());
    std::set<std::uint32_t> nodes;
    for (const CandidateMapping& candidate : *candidates) nodes.insert(candidate.nodes);
    return nodes;
  };
  EXPECT_THAT(nodes_of(one_program), ::testing::IsSupersetOf({1U, 3U}));
  EXPECT_THAT(nodes_of({"srun", "-n", "6", "--ntasks-per-node=2", "./a"}), ::testing::ElementsAre(3U));
}

const std::string smt = "node:1 core:8=1 pu:2=0.5";

TEST_F(JobMappingTest, TheOtherNumberOfHardwareThreadsIsOneIfRanksUseAll) {
  const Argv hybrid{"srun", "-n", "2", "-c", "8", "./a"};
  EXPECT_EQ(fit(hybrid, {8, 8}, smt), "--cores-per-rank 4 | ");
  EXPECT_EQ(other(hybrid, {8, 8}, smt), "--cores-per-rank 4 --threads-per-core 1 | 0 of OpenMP, 1 of a core");
  EXPECT_EQ(other(hybrid, {3, 3}, smt), "--cores-per-rank 4 --threads-per-core 1 | 3 of OpenMP, 1 of a core");
  EXPECT_EQ(other(hybrid, {4, 4}, smt, 4), "--cores-per-rank 4 --threads-per-core 1 | 0 of OpenMP, 1 of a core");
  EXPECT_THAT(other(hybrid, {8, 8}, smt, 8), HasSubstr("OMP_NUM_THREADS=8 is set"));
  EXPECT_EQ(other(one_program, {1, 1, 1, 1, 1, 1}, smt), "--threads-per-core 1 | 0 of OpenMP, 1 of a core");
}

TEST_F(JobMappingTest, TheOtherNumberOfHardwareThreadsIsAllIfTheCommandLimitsThem) {
  const Argv one_thread{"srun", "-n", "2", "-c", "4", "--hint=nomultithread", "./a"};
  EXPECT_EQ(fit(one_thread, {4, 4}, smt), "--cores-per-rank 4 --threads-per-core 1 | ");
  EXPECT_EQ(other(one_thread, {4, 4}, smt), "--cores-per-rank 4 --threads-per-core 2 | 0 of OpenMP, 2 of a core");
  EXPECT_EQ(other(one_thread, {4, 4}, smt, 4), "--cores-per-rank 4 --threads-per-core 2 | 0 of OpenMP, 2 of a core");
  const Argv bound_to_threads{"mpirun", "-n", "2", "--bind-to", "hwthread", "./a"};
  EXPECT_EQ(other(bound_to_threads, {1, 1}, smt), "--threads-per-core 2 | 0 of OpenMP, 2 of a core");
}

TEST_F(JobMappingTest, SomeJobsHaveNoOtherNumberOfHardwareThreads) {
  const std::vector<std::uint32_t> six(6, 1);
  EXPECT_THAT(other(one_program, six, "node:1 core:8=1"), HasSubstr("one hardware thread each"));
  EXPECT_THAT(other(one_program, six, "node:1 core:4=1 pu:2=0.5"), HasSubstr("too few cores"));
  EXPECT_THAT(other({"mpirun", "-n", "6", "--bind-to", "none", "./a"}, six, smt), HasSubstr("not bound"));
}

}  // namespace
}  // namespace rankloom::app
