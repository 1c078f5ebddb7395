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
constexpr std::string_view open_mpi_5 = "mpirun (Open MPI) 5.0.7";
constexpr std::string_view open_mpi_6 = "mpirun (Open MPI) 6.0.0rc2";
constexpr std::string_view mpich = "HYDRA build details:\n Version: 4.0.2";
constexpr std::string_view mpich_5 = "HYDRA build details:\n Version: 5.0.2";
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
  for (const auto version : {open_mpi_5, open_mpi_6}) {
    EXPECT_EQ(
        planned("mpirun app", version),
        "mpirun -n 2 --hostfile F/hosts --map-by rankfile:file=F/rankfile --bind-to core bind --report F/report - "
        "app");
  }
  EXPECT_EQ(planned("mpiexec -hosts x,y -n 2 app", mpich),
            "mpiexec -f F/hosts -bind-to none -n 2 bind --report F/report F/bind.txt app");
  EXPECT_EQ(planned("mpiexec -hosts x,y -rankmap 0,1 -n 2 app", mpich_5),
            "mpiexec -f F/hosts -rankmap 1,0 -bind-to none -n 2 bind --report F/report F/bind.txt app");
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

TEST(LaunchPlan, NamesHostsForOpenMpi5OutsideOfAResourceManager) {
  const auto plan = plan_launch(*read_command("mpirun -n 2 app", open_mpi_5), swapped_ranks(), {"F", "bind"});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->files.size(), 2u);
  EXPECT_EQ(plan->files[0].content, "rank 0=b slot=0\nrank 1=a slot=1\n");
  EXPECT_EQ(plan->files[1].name, "hosts");
  EXPECT_EQ(plan->files[1].content, "a slots=1\nb slots=1\n");
  EXPECT_EQ(planned("mpirun -n 2 app", open_mpi_5, EmitOptions::Bind::core, true),
            "mpirun --map-by rankfile:file=F/rankfile --bind-to core -n 2 bind --report F/report - app");
  EXPECT_EQ(planned("mpirun -n 2 app", open_mpi_6, EmitOptions::Bind::none),
            "mpirun --hostfile F/hosts --map-by seq --bind-to none -n 2 bind --report F/report - app");
}

TEST(LaunchPlan, NamesTheRankfileOfOpenMpi5RelativeToTheWorkingDirectory) {
  const auto plan_in = [](const std::string& directory, std::string_view version = open_mpi_5) {
    LaunchContext context{directory, "bind", EmitOptions::Bind::core, false, false};
    context.working_directory = "/home/my-name";
    auto plan = plan_launch(*read_command("mpirun -n 2 app", version), swapped_ranks(), context);
    return plan ? plan->text() : to_string(plan.error());
  };
  EXPECT_EQ(plan_in("/home/my-name/kept"),
            "mpirun --hostfile /home/my-name/kept/hosts --map-by rankfile:file=kept/rankfile --bind-to core -n 2 app");
  for (const char* const refused : {"/home/my-name/a-b", "/home/my-name/a:b", "a,b", "/home/my-names"}) {
    EXPECT_THAT(plan_in(refused), HasSubstr("--map-by seq --bind-to none -n 2 bind ")) << refused;
    EXPECT_THAT(plan_in(refused), HasSubstr("/bind.txt app")) << refused;
  }
  EXPECT_THAT(plan_in("/home/my-names", open_mpi_6), HasSubstr("rankfile:file=/home/my-names/rankfile"));
  EXPECT_THAT(plan_in("a:b", open_mpi_6), HasSubstr("--map-by seq"));
}

TEST(LaunchPlan, LetsRanksOfOpenMpi5ShareACore) {
  const std::vector<std::string> hosts{"a", "b"};
  const auto machine = rankloom::testing::topology("node:2=10 core:2=1");
  const auto plan = [&](const std::string& text, std::vector<Core> core_of) {
    const auto made =
        plan_launch(*read_command(text, open_mpi_5), *deploy(core_of, machine, hosts), {"F", "bind", {}, false, false});
    return made ? made->text() : to_string(made.error());
  };
  EXPECT_EQ(plan("mpirun -n 2 app", {Core{1}, Core{1}}),
            "mpirun --hostfile F/hosts --map-by rankfile:file=F/rankfile --bind-to core:overload-allowed -n 2 app");
  EXPECT_EQ(plan("mpirun -n 2 app", {Core{1}, Core{3}}),
            "mpirun --hostfile F/hosts --map-by rankfile:file=F/rankfile --bind-to core -n 2 app");
  const std::string oversubscribed =
      "mpirun --hostfile F/hosts --map-by rankfile:file=F/rankfile:oversubscribe --bind-to core:overload-allowed -n 2 "
      "app";
  EXPECT_EQ(plan("mpirun --oversubscribe -n 2 app", {Core{1}, Core{3}}), oversubscribed);
  EXPECT_EQ(plan("mpirun --map-by :OVERSUBSCRIBE -n 2 app", {Core{1}, Core{3}}), oversubscribed);
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
  EXPECT_THAT(planned("mpirun -n 1 a : -n 1 b", open_mpi_5), HasSubstr("$OMPI_COMM_WORLD_RANK"));
  for (const std::string_view version : {std::string_view("mpirun (Open MPI) 5.0.8"), open_mpi_6})
    EXPECT_THAT(planned("mpirun -n 1 a : -n 1 b", version), HasSubstr("- a : -n 1 bind"));
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
  for (const char* const options :
       {"--map-by node", "--rank-by slot --bind-to none --bind-to core", "--rankfile f --nolocal", "--mapby slot:PE=1",
        "--prtemca rmaps_default_mapping_policy node", "--use-hwthread-cpus --pernode", "--hostfile f --cpu-list 0,1",
        "--nooversubscribe --default-hostfile h --bindto core"}) {
    EXPECT_EQ(
        planned(fmt::format("mpirun {} -n 2 app", options), open_mpi_6),
        "mpirun --hostfile F/hosts --map-by rankfile:file=F/rankfile --bind-to core -n 2 bind --report F/report - "
        "app")
        << options;
  }
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
