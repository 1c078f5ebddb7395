// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/verbs/launch/job_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom::app {
namespace {

using ::testing::HasSubstr;

JobScript script(const std::string& text) {
  return JobScript::parse(FileContents("job.sh", text));
}

std::string error_of(const Result<JobScript::Launch>& launch) {
  return launch ? "none" : to_string(launch.error());
}

TEST(JobScript, FindsTheLineOfTheLauncher) {
  const auto job = script(
      "#!/bin/bash\n#SBATCH --nodes=4 --time=00:30:00\n# srun is below\nmodule load x\n"
      "OMP_NUM_THREADS=4 srun -n 8 \\\n  ./app input\necho done\n");
  ASSERT_EQ(job.launches().size(), 1U);
  const auto launch = job.choose(std::nullopt);
  ASSERT_TRUE(launch) << to_string(launch.error());
  EXPECT_EQ(launch->line, 5U);
  EXPECT_EQ(launch->text, "srun -n 8   ./app input");
  EXPECT_EQ(job.submitter(), "sbatch");
  EXPECT_EQ(job.seconds(), 1800);
  EXPECT_EQ(job.nodes(), 4U);
  EXPECT_EQ(job.with_prefix(*launch, "rankloom tune -- ", 7200),
            "#!/bin/bash\n# Written by rankloom tune --script job.sh: line 5 runs with several placements in turn.\n"
            "#SBATCH --nodes=4 --time=02:00:00\n# srun is below\nmodule load x\n"
            "OMP_NUM_THREADS=4 rankloom tune -- srun -n 8 \\\n  ./app input\necho done\n");
}

TEST(JobScript, ProgramsThatPrepareALaunchBelongToIt) {
  const auto job = script("if true; then\n  time env A=b timeout 9 mpirun -n 2 ./app\nfi\n");
  const auto launch = job.choose(std::nullopt);
  ASSERT_TRUE(launch) << to_string(launch.error());
  EXPECT_EQ(launch->line, 2U);
  EXPECT_EQ(launch->text, "env A=b timeout 9 mpirun -n 2 ./app");
  EXPECT_EQ(job.submitter(), "");
  EXPECT_FALSE(job.seconds());
}

TEST(JobScript, OneOfSeveralLaunchesIsChosenByItsLine) {
  const auto job = script("#!/bin/sh\nsrun ./prepare\nsrun ./app\n./mpirun_all.sh\n");
  EXPECT_THAT(error_of(job.choose(std::nullopt)), HasSubstr("several lines of this script start programs"));
  EXPECT_THAT(error_of(job.choose(std::nullopt)), HasSubstr("--line: 2, 3"));
  EXPECT_THAT(error_of(job.choose(4)), HasSubstr("job.sh:4: this line does not begin with a launcher"));
  EXPECT_EQ(job.choose(3)->text, "srun ./app");
  EXPECT_THAT(error_of(script("./app\n").choose(std::nullopt)), HasSubstr("no line of this script begins"));
  EXPECT_THAT(error_of(script("srun ./app & \n").choose(std::nullopt)), HasSubstr("in the background"));
}

TEST(JobScript, DirectivesEndAtTheFirstCommand) {
  const auto job = script("#!/bin/sh\n#SBATCH -N2-4\n#SBATCH -t 90\ntrue\n#SBATCH --time=5\nsrun ./app\n");
  EXPECT_EQ(job.seconds(), 5400);
  EXPECT_EQ(job.nodes(), 2U);
  EXPECT_EQ(script("#!/bin/sh\n#PBS -l walltime=1:00:00\nmpirun ./app\n").submitter(), "qsub");
}

TEST(JobScript, OnlyTheTimeOfADirectiveChanges) {
  const auto job = script("#!/bin/sh\n#SBATCH -N4 -t 30 -p debug\nsrun ./app\n");
  EXPECT_THAT(job.with_prefix(*job.choose(std::nullopt), "", 3600), HasSubstr("\n#SBATCH -N4 -t 01:00:00 -p debug\n"));
}

TEST(JobScript, AScriptWithoutAShellLineGetsOne) {
  const auto job = script("srun -n 4 \\\n  ./app\n");
  EXPECT_EQ(job.with_prefix(*job.choose(std::nullopt), "tune ", std::nullopt),
            "#!/bin/bash\n# Written by rankloom tune --script job.sh: line 1 runs with several placements in turn.\n"
            "tune srun -n 4 \\\n  ./app\n");
}

TEST(JobScript, TimesAreThoseOfSlurm) {
  EXPECT_EQ(parse_slurm_time("90"), 5400);
  EXPECT_EQ(parse_slurm_time("90:30"), 5430);
  EXPECT_EQ(parse_slurm_time("1:30:00"), 5400);
  EXPECT_EQ(parse_slurm_time("1-12"), 129600);
  EXPECT_EQ(parse_slurm_time("1-12:30"), 131400);
  EXPECT_EQ(parse_slurm_time("1-12:30:05"), 131405);
  for (const char* const text : {"", "x", "1:", "1:2:3:4", "-5", "UNLIMITED"})
    EXPECT_FALSE(parse_slurm_time(text)) << text;
  EXPECT_EQ(format_slurm_time(131405), "1-12:30:05");
  EXPECT_EQ(format_slurm_time(59.5), "00:01:00");
}

TEST(JobScript, ACopyIsRecognised) {
  const auto job = script("srun ./app\n");
  const std::string copy = job.with_prefix(*job.choose(std::nullopt), "rankloom tune -- ", std::nullopt);
  EXPECT_TRUE(is_tune_script(copy));
  EXPECT_FALSE(is_tune_script("#!/bin/sh\nsrun ./app\n"));
  EXPECT_FALSE(is_tune_script(""));
}

}  // namespace
}  // namespace rankloom::app
