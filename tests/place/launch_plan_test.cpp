// SPDX-License-Identifier: Apache-2.0
// tests of place: the user's command changed to follow a mapping, and commands that are refused.
#include "rankloom/place/launch_plan.hpp"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view open_mpi_4 = "mpirun (Open MPI) 4.1.4";
constexpr std::string_view open_mpi_5 = "mpirun (Open MPI) 5.0.3";
constexpr std::string_view mpich = "HYDRA build details:\n Version: 4.0.2";
constexpr std::string_view intel = "Intel(R) MPI Library for Linux* OS, Version 2021.9";

Result<LaunchCommand> read_command(const std::string& text, std::string_view version) {
  std::istringstream in(text);
  Argv argv;
  for (std::string argument; in >> argument;) argv.push_back(argument);
  return parse_launch_command(argv, version);
}

/// Two ranks on two hosts.
Deployment swapped_ranks() {
  const std::vector<std::string> hosts{"a", "b"};
  return *deploy(std::vector<Core>{Core{2}, Core{1}}, rankloom::testing::topology("node:2=10 core:2=1"), hosts);
}

/// The changed command, or the error, for two ranks on two hosts.
std::string planned(const std::string& text, std::string_view version, EmitOptions::Bind bind = EmitOptions::Bind::core,
                    bool in_slurm_job = false, bool report = true) {
  auto command = read_command(text, version);
  if (!command) return to_string(command.error());
  auto plan = plan_launch(*command, swapped_ranks(), {"F", "bind", bind, in_slurm_job, report});
  return plan ? plan->text() : to_string(plan.error());
}

TEST(LaunchPlan, ChangesTheCommandForEachLauncher) {
  EXPECT_EQ(planned("mpirun -n 2 --hostfile h app x", open_mpi_4),
            "mpirun --rankfile F/rankfile --mca rmaps_rank_file_physical 1 -n 2 bind --report F/report - app x");
  EXPECT_EQ(planned("mpirun app", open_mpi_5),
            "mpirun -n 2 --map-by rankfile:file=F/rankfile bind --report F/report - app");
  EXPECT_EQ(planned("mpiexec -hosts x,y -n 2 app", mpich),
            "mpiexec -f F/hosts -bind-to none -n 2 bind --report F/report F/bind.txt app");
  EXPECT_EQ(planned("mpirun -n 2 app", intel),
            "mpirun -machinefile F/hosts -genv I_MPI_PIN off -n 2 bind --report F/report F/bind.txt app");
  EXPECT_EQ(planned("srun -N2 --mpi=pmix app", ""),
            "SLURM_HOSTFILE=F/hosts SLURM_PMIX_FENCE=ring srun -n 2 --distribution=arbitrary --cpu-bind=none -N2 "
            "--mpi=pmix bind --report "
            "F/report F/bind.txt app");
}

TEST(LaunchPlan, LeavesRanksUnboundOnTheirHostsOnRequest) {
  const auto none = EmitOptions::Bind::none;
  EXPECT_EQ(planned("mpirun -n 2 app", open_mpi_4, none),
            "mpirun --hostfile F/hosts --map-by seq --bind-to none -n 2 bind --report F/report - app");
  EXPECT_EQ(planned("mpirun -n 2 app", mpich, none),
            "mpirun -f F/hosts -bind-to none -n 2 bind --report F/report - app");
}

TEST(LaunchPlan, PlacesTheRanksOfSeveralPrograms) {
  EXPECT_EQ(planned("mpirun -n 1 a : -n 1 b", open_mpi_4),
            "mpirun --rankfile F/rankfile --mca rmaps_rank_file_physical 1 -n 1 bind --report F/report - a : -n 1 bind "
            "--report F/report - b");
  EXPECT_THAT(planned("mpirun -n 1 a : b", open_mpi_4), HasSubstr("no number of ranks"));
  EXPECT_EQ(
      planned("mpiexec a : b", mpich),  // hydra starts one of each
      "mpiexec -f F/hosts -bind-to none bind --report F/report F/bind.txt a : bind --report F/report F/bind.txt b");
  EXPECT_THAT(planned("mpiexec a : b : c", mpich), HasSubstr("starts 3 ranks"));
}

TEST(LaunchPlan, RefusesAnotherNumberOfRanks) {
  EXPECT_THAT(planned("mpirun -n 3 app", open_mpi_4), HasSubstr("starts 3 ranks, the mapping places 2"));
}

TEST(LaunchPlan, ReplacesOptionsOfOtherPlacements) {
  const std::string rankfile =
      "mpirun --rankfile F/rankfile --mca rmaps_rank_file_physical 1 -n 2 bind --report F/report - app";
  for (const char* const options :
       {"--bind-to core", "--map-by node", "--map-by ppr:1:node:PE=1", "--cpu-list 1,0", "-rf f", "-npernode 1",
        "--mca rmaps_base_mapping_policy node", "--use-hwthread-cpus --bycore", "--hostfile f --rank-by node"}) {
    EXPECT_EQ(planned(fmt::format("mpirun {} -n 2 app", options), open_mpi_4), rankfile) << options;
  }
  EXPECT_EQ(
      planned("mpirun --mca btl self --mca rmaps_base_mapping_policy node -n 2 app", open_mpi_4),
      "mpirun --rankfile F/rankfile --mca rmaps_rank_file_physical 1 --mca btl self -n 2 bind --report F/report - app");
  EXPECT_EQ(planned("mpirun --map-by node -n 2 app", open_mpi_5),
            "mpirun --map-by rankfile:file=F/rankfile -n 2 bind --report F/report - app");
  for (const char* const options : {"-bind-to user:1,0", "-ppn 1", "-map-by hwthread -bind-to core:1"}) {
    EXPECT_EQ(planned(fmt::format("mpirun {} -n 2 app", options), mpich),
              "mpirun -f F/hosts -bind-to none -n 2 bind --report F/report F/bind.txt app")
        << options;
  }
  for (const char* const options : {"-w a,b", "--cpu-bind=map_cpu:1,0", "-m cyclic", "--ntasks-per-node=1",
                                    "--distribution=block:block --hint=nomultithread"}) {
    EXPECT_EQ(planned(fmt::format("srun {} -n 2 app", options), ""),
              "SLURM_HOSTFILE=F/hosts SLURM_PMIX_FENCE=ring srun --distribution=arbitrary --cpu-bind=none -n 2 bind "
              "--report F/report F/bind.txt app")
        << options;
  }
  for (const char* const options : {"-lw a,b", "-lwa,b", "-lQm cyclic"}) {
    EXPECT_THAT(planned(fmt::format("srun {} -n 2 app", options), ""),
                HasSubstr(fmt::format("--cpu-bind=none -l{} -n 2 bind", options[2] == 'Q' ? "Q" : "")))
        << options;
  }
  EXPECT_THAT(planned("srun -lw n1 -n2 --nodelist=x app", ""), HasSubstr("--cpu-bind=none -l -n2 bind"));
  EXPECT_THAT(planned("srun -c 1 -n 2 app", ""), HasSubstr(" -c 1 ")) << "Slurm reserves the processing units";
}

TEST(LaunchPlan, ListsWhatItReplaces) {
  const auto replacements = [](const std::string& text, std::string_view version) {
    return plan_launch(*read_command(text, version), swapped_ranks(), {"F", "bind"})->replacements();
  };
  EXPECT_EQ(replacements("mpiexec -membind interleave:numa -bind-to core -n 2 app", mpich),
            "-f F/hosts -bind-to none instead of -membind interleave:numa, -bind-to core");
  EXPECT_EQ(replacements("srun -lw n1 -n 2 app", ""), "--distribution=arbitrary --cpu-bind=none instead of -w n1");
  EXPECT_EQ(replacements("mpirun -n 2 app", open_mpi_4), "");
}

TEST(LaunchPlan, KeepsAVariableOfTheLauncherThatTheUserHasSet) {
  const auto command = read_command("srun -n 2 app", "");
  LaunchContext context{"F", "bind"};
  EXPECT_EQ(launcher_variables(*command, context), std::vector<std::string>{"SLURM_PMIX_FENCE=ring"});
  context.is_set = [](const char* name) { return std::string_view(name) == "SLURM_PMIX_FENCE"; };
  EXPECT_TRUE(launcher_variables(*command, context).empty());
  EXPECT_EQ(plan_launch(*command, swapped_ranks(), context)->environment,
            std::vector<std::string>{"SLURM_HOSTFILE=F/hosts"});
}

TEST(LaunchPlan, RefusesWhatItCannotReplace) {
  const std::string message = planned("srun --multi-prog -n 2 f", "");
  EXPECT_THAT(message, HasSubstr("in a file"));
  EXPECT_THAT(message, HasSubstr("$SLURM_PROCID"));
  for (const char* const several : {"srun -n 1 a : -n 1 b", "srun --het-group=0,1 -n 2 a", "srun --het-group=0-1 a"}) {
    EXPECT_THAT(planned(several, ""), HasSubstr("components of a heterogeneous job")) << several;
    EXPECT_THAT(planned(several, ""), HasSubstr("$SLURM_PROCID")) << several;
  }
  EXPECT_THAT(planned("srun --het-group=1 -n 2 a", ""), HasSubstr("--het-group=1 -n 2 bind"));
}

TEST(LaunchPlan, WithoutReportsKeepsTheCommandOfTheUser) {
  const auto plan = [](const std::string& text, std::string_view version) {
    return planned(text, version, EmitOptions::Bind::core, false, false);
  };
  EXPECT_EQ(plan("/opt/bin/mpirun.openmpi --oversubscribe -n 1 a x : -n 1 b", open_mpi_4),
            "/opt/bin/mpirun.openmpi --rankfile F/rankfile --mca rmaps_rank_file_physical 1 --oversubscribe -n 1 a x : "
            "-n 1 b");
  EXPECT_EQ(plan("mpiexec.hydra -n 2 a x", mpich), "mpiexec.hydra -f F/hosts -bind-to none -n 2 bind F/bind.txt a x");
}

TEST(LaunchPlan, RefusesHydraInASlurmJobUnlessItKeepsTheOrder) {
  const auto core = EmitOptions::Bind::core;
  EXPECT_THAT(planned("mpiexec -n 2 app", mpich, core, true), HasSubstr("-rmk user"));
  EXPECT_THAT(planned("mpiexec -launcher ssh -rmk user -n 2 app", mpich, core, true), HasSubstr("F/hosts"));
}

}  // namespace
}  // namespace rankloom
