// SPDX-License-Identifier: Apache-2.0
// tests: ranks find out which MPI job they belong to.
#include "rankloom/core/job_identity.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace rankloom {
namespace {

using Variables = std::map<std::string, std::string>;

/// In a child process, which has only these variables.
std::string identity_with(const Variables& variables) {
  int pipe[2];
  if (::pipe(pipe) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::clearenv();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    const JobIdentity identity = job_identity();
    const auto length = std::strlen(identity.text);
    ::_exit(::write(pipe[1], identity.text, length) == static_cast<ssize_t>(length) ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string text(200, '\0');
  const ssize_t got = ::read(pipe[0], text.data(), text.size());
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

TEST(JobIdentity, IsTheNameThatTheLauncherGivesToTheJob) {
  EXPECT_EQ(identity_with({{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_NAMESPACE", "4711"}}), "pmix:4711");
  EXPECT_EQ(identity_with({{"SLURM_PROCID", "3"}, {"SLURM_JOB_ID", "815"}, {"SLURM_STEP_ID", "2"}}), "slurm:815.2");
  EXPECT_EQ(identity_with({{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_ID", "f1"}}), "flux:f1");
}

TEST(JobIdentity, IsUnknownIfTheLauncherGivesNone) {
  EXPECT_EQ(identity_with({{"PMI_RANK", "3"}}), "");
  EXPECT_EQ(identity_with({{"SLURM_PROCID", "3"}, {"SLURM_JOB_ID", "815"}}), "")
      << "several programs of one job script";
}

TEST(JobIdentity, DiffersForProcessesWithoutALauncher) {
  const std::string one = identity_with({}), other = identity_with({});
  EXPECT_TRUE(one.starts_with("process:")) << one;
  EXPECT_NE(one, other);
}

TEST(JobIdentity, IsLimitedInLength) {
  EXPECT_LT(identity_with({{"PMI_RANK", "3"}, {"PMIX_NAMESPACE", std::string(500, 'x')}}).size(),
            sizeof(JobIdentity::text));
}

/// Like a rank of MPICH: a descendant of the proxy, which has the address of mpiexec among its arguments.
TEST(JobIdentity, IsTheAddressOfMpiexecForRanksOfMpich) {
  char self[4096]{};
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("PMI_RANK", "0", 1);
    ::execl("/bin/sh", "sh", "-c",
            "\"$0\" --gtest_filter=JobIdentity.DISABLED_Rank --gtest_also_run_disabled_tests; exit $?", self,
            "--control-port", "host:4711", nullptr);
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
TEST(JobIdentity, DISABLED_Rank) {
  EXPECT_STREQ(job_identity().text, "hydra:host:4711");
}

}  // namespace
}  // namespace rankloom
