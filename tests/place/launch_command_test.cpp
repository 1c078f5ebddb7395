// SPDX-License-Identifier: Apache-2.0
// tests of place: command lines of launchers, parsed and rewritten.
#include "rankloom/place/launch_command.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view open_mpi = "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/";
constexpr std::string_view open_mpi_5 = "mpirun (Open MPI) 5.0.3\n\nReport bugs to https://www.open-mpi.org/";
constexpr std::string_view mpich = "HYDRA build details:\n    Version:                                 4.0.2\n";
constexpr std::string_view intel = "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n";
constexpr std::string_view slurm = "slurm 22.05.8\n";

Argv split(const std::string& text) {
  std::istringstream in(text);
  Argv argv;
  for (std::string argument; in >> argument;) argv.push_back(argument);
  return argv;
}

std::string join(const Argv& argv) {
  std::string text;
  for (const std::string& argument : argv) text += (text.empty() ? "" : " ") + argument;
  return text;
}

LaunchCommand parsed(const std::string& text, std::string_view version) {
  auto command = parse_launch_command(split(text), version);
  EXPECT_TRUE(command) << to_string(command.error());
  return command ? *command : LaunchCommand{};
}

/// The programs without their arguments.
Argv programs(const LaunchCommand& command) {
  Argv names;
  for (const LaunchedProgram& program : command.programs) names.push_back(program.arguments.at(0));
  return names;
}

TEST(LaunchCommand, IsRecognisedByTheVersionTextOfItsLauncher) {
  EXPECT_EQ(parsed("mpirun -n 2 a", open_mpi).launcher->name, "openmpi4");
  EXPECT_EQ(parsed("mpirun -n 2 a", open_mpi).version, "4.1.4");
  EXPECT_EQ(parsed("mpirun -n 2 a", open_mpi_5).launcher->name, "openmpi5");
  EXPECT_EQ(parsed("mpirun -n 2 a", mpich).launcher->name, "mpich");
  EXPECT_EQ(parsed("mpirun -n 2 a", mpich).version, "4.0.2");
  EXPECT_EQ(parsed("mpirun -n 2 a", intel).launcher->name, "intelmpi");
  EXPECT_EQ(parsed("mpirun -n 2 a", intel).version, "2021.9");
  EXPECT_EQ(parsed("/usr/bin/srun -n 2 a", slurm).launcher->name, "slurm");
  EXPECT_EQ(parsed("srun -n 2 a", "").launcher->name, "slurm");
}

TEST(LaunchCommand, OfAnUnknownLauncherIsRefusedWithARemedy) {
  const auto command = parse_launch_command(split("./app -n 2"), "usage: app");
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().code, Code::usage);
  EXPECT_THAT(command.error().hint, HasSubstr("mpirun"));
}

TEST(LaunchCommand, HasItsProgramAfterOptionsAndTheirValues) {
  const auto command =
      parsed("mpirun --mca btl tcp,self -np 4 --oversubscribe -H a,b:2 -x A=b ./app -n 7 -- --mca x", open_mpi);
  EXPECT_EQ(programs(command), Argv{"./app"});
  EXPECT_EQ(command.rank_count(), 4);
  ASSERT_NE(command.find("host"), nullptr);
  EXPECT_EQ(command.find("host")->values, Argv{"a,b:2"});
  EXPECT_EQ(command.programs[0].arguments, (Argv{"./app", "-n", "7", "--", "--mca", "x"}));
}

TEST(LaunchCommand, SeparatesSeveralPrograms) {
  const auto command = parsed("mpiexec -n 2 -env A 1 one x : -n 3 two : four", mpich);
  EXPECT_EQ(programs(command), (Argv{"one", "two", "four"}));
  EXPECT_EQ(command.rank_count(), 6);
}

TEST(LaunchCommand, LeavesTheNumberOfRanksToTheLauncherWhenNoneIsGiven) {
  EXPECT_EQ(parsed("mpirun ./app", open_mpi).rank_count(), std::nullopt);
  EXPECT_EQ(parsed("srun ./app", slurm).rank_count(), std::nullopt);
  EXPECT_EQ(parsed("mpiexec ./app", mpich).rank_count(), 1);
}

TEST(LaunchCommand, OfSrunHasLettersAsGetoptParsesThem) {
  const auto command = parsed("srun -lN2 -n4 -c 2 --cpu-bind=cores --mpi pmix -K1 -I --exclusive app -n 9", slurm);
  EXPECT_EQ(programs(command), Argv{"app"});
  EXPECT_EQ(command.rank_count(), 4);
  EXPECT_EQ(command.find("nodes")->values, Argv{"2"});
  EXPECT_EQ(command.find("cpu-bind")->values, Argv{"cores"});
}

TEST(LaunchCommand, MayFollowProgramsThatOnlyPrepareItsStart) {
  const auto command = parsed("env A=1 B_2=x timeout -k 5 60 nice mpirun -n 2 ./app", open_mpi);
  EXPECT_EQ(command.executable, "mpirun");
  EXPECT_EQ(command.prefix, (Argv{"env", "A=1", "B_2=x", "timeout", "-k", "5", "60", "nice"}));
  EXPECT_EQ(programs(command), Argv{"./app"});
}

TEST(LaunchCommand, IsRefusedWhenAnUnknownOptionMayHaveAValue) {
  const auto command = parse_launch_command(split("mpirun -n 2 --odd x ./app"), open_mpi);
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().where.source, "--odd");
  EXPECT_THAT(command.error().hint, HasSubstr("--program"));
  const auto named = parse_launch_command(split("mpirun -n 2 --odd x ./app"), open_mpi, "./app");
  ASSERT_TRUE(named);
  EXPECT_EQ(programs(*named), Argv{"./app"});
  EXPECT_EQ(programs(parsed("mpirun --odd -n 2 ./app", open_mpi)), Argv{"./app"});
}

TEST(LaunchCommand, IsTheSameAgainAfterParsing) {
  for (const std::string text : {"env A=1 mpirun -np 2 -x B a x : -n 3 b", "mpirun --map-by core a"})
    EXPECT_EQ(join(parsed(text, open_mpi).argv()), text);
  EXPECT_EQ(join(parsed("srun -lN2 --mpi=pmix -K1 a -n 9", slurm).argv()), "srun -lN2 --mpi=pmix -K1 a -n 9");
}

TEST(LaunchCommand, WithoutAProgramIsRefused) {
  for (const char* const text : {"mpirun -n 2", "mpirun -n 2 a : -n 2", "mpirun -n", "env A=b"}) {
    EXPECT_FALSE(parse_launch_command(split(text), open_mpi)) << text;
  }
}

std::string rewritten(const std::string& text, std::string_view version, const LaunchChange& change) {
  auto command = rewrite(parsed(text, version), change);
  return command ? join(command->argv()) : to_string(command.error());
}

TEST(LaunchChange, PassesVariablesToTheRanksOnly) {
  const LaunchChange change{.environment = {{"A", "1"}}};
  EXPECT_EQ(rewritten("mpirun -n 1 a : -n 2 b", open_mpi, change), "mpirun -x A=1 -n 1 a : -x A=1 -n 2 b");
  EXPECT_EQ(rewritten("mpirun -n 1 a : -n 2 b", mpich, change), "mpirun -genv A 1 -n 1 a : -n 2 b");
  EXPECT_EQ(rewritten("srun -n 1 a", slurm, change), "srun -n 1 --export=ALL,A=1 a");
  EXPECT_EQ(rewritten("srun --export=NONE,B -n 1 a", slurm, change), "srun -n 1 --export=NONE,B,A=1 a");
}

TEST(LaunchChange, PassesValuesWithCommasThroughEnvUnderSrun) {
  const LaunchChange change{.environment = {{"A", "1,2"}}};
  EXPECT_EQ(rewritten("srun --export=ALL -n 1 a b", slurm, change), "srun --export=ALL -n 1 env A=1,2 a b");
}

TEST(LaunchChange, PutsAWrapperBeforeEveryProgram) {
  const LaunchChange change{.wrapper = {"bind", "--"}};
  EXPECT_EQ(rewritten("env X=y mpirun -n 1 a x : -n 2 b", mpich, change),
            "env X=y mpirun -n 1 bind -- a x : -n 2 bind -- b");
}

TEST(LaunchChange, ReplacesOptionsWithTheirValues) {
  const LaunchChange change{.removed_options = {"map-by", "bind-to", "n"}, .options = {"-n", "4"}};
  EXPECT_EQ(rewritten("mpirun --map-by core -np 2 --bind-to none -v a --bind-to x", open_mpi, change),
            "mpirun -n 4 -v a --bind-to x");
}

/// A file that lists programs, in a temporary directory.
class ProgramFile {
 public:
  explicit ProgramFile(const std::string& text) : directory_(*TemporaryDirectory::make()) {
    std::ofstream(path()) << text;
  }
  std::string path() const { return directory_.file("programs"); }

 private:
  TemporaryDirectory directory_;
};

TEST(LaunchCommand, ReadsTheProgramsOfAFile) {
  const ProgramFile file("# two programs\n\n-np 2 -x A=b ./one  \"x y\" # the first\n  --host h -n 3 ./two it's\n");
  const auto open = parsed("env B=c mpirun --oversubscribe --app " + file.path() + " --mca x y", open_mpi);
  EXPECT_EQ(join(open.argv()),
            "env B=c mpirun --oversubscribe --mca x y -np 2 -x A=b ./one \"x y\" : --host h -n 3 ./two it's");
  EXPECT_EQ(open.rank_count(), 5);
  EXPECT_EQ(open.programs[0].arguments, (Argv{"./one", "\"x", "y\""})) << "quotes have no meaning there";
  const ProgramFile lines("-n 1 ./one\n-n 2 -env A b ./two\n");
  EXPECT_EQ(join(parsed("mpiexec -genv C d -configfile " + lines.path(), mpich).argv()),
            "mpiexec -genv C d -n 1 ./one : -n 2 -env A b ./two");
}

TEST(LaunchCommand, WithAFileOfProgramsIsRefusedWhereLaunchersIgnoreOrDiffer) {
  const ProgramFile good("-n 1 ./one\n"), tab("-n 1\t./one\n"), colon("-n 1 a : -n 1 b\n"), empty("# none\n"),
      no_program("-n 1\n"), nested("--app other ./x\n");
  for (const std::string& text :
       {"mpirun -n 2 --app " + good.path(), "mpirun -x A --app " + good.path(),
        "mpirun --app " + good.path() + " ./app", "mpirun ./app : --app " + good.path(), "mpirun --app " + tab.path(),
        "mpirun --app " + colon.path(), "mpirun --app " + empty.path(), "mpirun --app " + no_program.path(),
        "mpirun --app " + nested.path(), "mpirun --app " + good.path() + " --app " + good.path(),
        std::string("mpirun --app /no/such/file"), std::string("mpirun --app -"), std::string("mpirun --app /dev/zero"),
        std::string("mpirun --app")}) {
    const auto command = parse_launch_command(split(text), open_mpi);
    ASSERT_FALSE(command) << text;
    EXPECT_FALSE(command.error().hint.empty()) << text;
  }
}

TEST(LaunchCommand, OfHydraMayAssignAVariableInOneArgument) {
  const auto command = parsed("mpiexec -genv A=b -env B c -n 2 ./app", mpich);
  EXPECT_EQ(programs(command), Argv{"./app"});
  EXPECT_EQ(command.rank_count(), 2);
}

TEST(LaunchCommand, HasItsProgramAfterTwoDashesWhereTheLauncherDoes) {
  const auto command = parsed("srun -n 2 -- -odd x", slurm);
  EXPECT_EQ(programs(command), Argv{"-odd"});
  EXPECT_EQ(join(rewrite(command, {.environment = {{"A", "1"}}})->argv()), "srun -n 2 --export=ALL,A=1 -- -odd x");
  EXPECT_EQ(programs(parsed("mpirun -n 2 -- ./app", open_mpi)), Argv{"./app"});
  EXPECT_FALSE(parse_launch_command(split("mpiexec -n 2 -- ./app"), mpich)) << "hydra refuses it";
}

TEST(LaunchCommand, DoesNotTakeAColonForAValue) {
  EXPECT_FALSE(parse_launch_command(split("mpirun -n : ./app"), open_mpi));
  EXPECT_FALSE(parse_launch_command(split("mpirun --mca a : ./app"), open_mpi));
}

TEST(LaunchCommand, OfSrunMayAbbreviateOptions) {
  EXPECT_EQ(parsed("srun --ntasks=4 ./app", slurm).rank_count(), 4);
  EXPECT_EQ(parsed("srun --cpu-b=none -n 2 ./app", slurm).find("cpu-bind")->values, Argv{"none"});
}

TEST(LaunchCommand, CountsRanksWithoutOverflow) {
  EXPECT_EQ(parsed("mpirun -n 4294967295 a : -n 4294967295 b", open_mpi).rank_count(), std::nullopt);
}

TEST(LaunchCommand, IsFoundOnlyAfterProgramsWhoseOptionsAreKnown) {
  EXPECT_EQ(launcher_position(split("stdbuf -o L time -f %e nice -5 mpirun a")), 8);
  EXPECT_EQ(launcher_position(split("env -C /tmp mpirun a")), 0) << "another directory";
  EXPECT_EQ(launcher_position(split("env -S x mpirun a")), 0);
  EXPECT_EQ(launcher_position(split("sudo mpirun a")), 0);
  EXPECT_EQ(launcher_environment(split("env A=b timeout 5 env C= mpirun D=e")), (Argv{"A=b", "C="}));
}

TEST(LaunchChange, OfProgramsInAFileOfSrunIsLimitedToTheEnvironment) {
  EXPECT_THAT(rewritten("srun --multi-prog f", slurm, {.wrapper = {"bind"}}), HasSubstr("hint"));
  EXPECT_EQ(rewritten("srun --multi-prog f", slurm, {.environment = {{"A", "1"}}}),
            "srun --multi-prog --export=ALL,A=1 f");
  EXPECT_THAT(rewritten("srun --multi-prog f", slurm, {.environment = {{"A", "1,2"}}}), HasSubstr("hint"));
}

TEST(LaunchChange, IsRefusedWhereEnvWouldTakeTheProgramForAVariable) {
  EXPECT_THAT(rewritten("srun -n 1 a=b", slurm, {.environment = {{"A", "1,2"}}}), HasSubstr("hint"));
}

}  // namespace
}  // namespace rankloom
