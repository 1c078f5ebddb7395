// SPDX-License-Identifier: Apache-2.0
// tests of place: command lines of launchers, understood and changed.
#include "rankloom/place/launch_command.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

using testing::HasSubstr;

constexpr std::string_view open_mpi = "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/";
constexpr std::string_view open_mpi_5 = "mpirun (Open MPI) 5.0.3\n\nReport bugs to https://www.open-mpi.org/";
constexpr std::string_view mpich = "HYDRA build details:\n    Version:                                 4.0.2\n";
constexpr std::string_view intel = "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n";
constexpr std::string_view slurm = "slurm 22.05.8\n";

Argv split(const std::string& text) {
  std::istringstream in(text);
  Argv words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string join(const Argv& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

LaunchCommand understood(const std::string& text, std::string_view version) {
  auto command = understand_launch(split(text), version);
  EXPECT_TRUE(command) << to_string(command.error());
  return command ? *command : LaunchCommand{};
}

/// The words at which programs begin.
Argv programs(const LaunchCommand& command) {
  Argv words;
  for (const LaunchPart& part : command.parts) words.push_back(command.words[part.program]);
  return words;
}

TEST(LaunchCommand, IsRecognisedByWhatTheLauncherSaysOfItself) {
  EXPECT_EQ(understood("mpirun -n 2 a", open_mpi).kind, LauncherKind::openmpi4);
  EXPECT_EQ(understood("mpirun -n 2 a", open_mpi).version, "4.1.4");
  EXPECT_EQ(understood("mpirun -n 2 a", open_mpi_5).kind, LauncherKind::openmpi5);
  EXPECT_EQ(understood("mpirun -n 2 a", mpich).kind, LauncherKind::mpich);
  EXPECT_EQ(understood("mpirun -n 2 a", mpich).version, "4.0.2");
  EXPECT_EQ(understood("mpirun -n 2 a", intel).kind, LauncherKind::intelmpi);
  EXPECT_EQ(understood("mpirun -n 2 a", intel).version, "2021.9");
  EXPECT_EQ(understood("/usr/bin/srun -n 2 a", slurm).kind, LauncherKind::slurm);
  EXPECT_EQ(understood("srun -n 2 a", "").kind, LauncherKind::slurm);
}

TEST(LaunchCommand, OfAnUnknownLauncherIsRefusedWithARemedy) {
  const auto command = understand_launch(split("./app -n 2"), "usage: app");
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().code, Code::usage);
  EXPECT_THAT(command.error().hint, HasSubstr("mpirun"));
}

TEST(LaunchCommand, HasItsProgramBehindOptionsAndTheirValues) {
  const auto command =
      understood("mpirun --mca btl tcp,self -np 4 --oversubscribe -H a,b:2 -x A=b ./app -n 7 -- --mca x", open_mpi);
  EXPECT_EQ(programs(command), Argv{"./app"});
  EXPECT_EQ(command.rank_count(), 4);
  ASSERT_NE(command.find("host"), nullptr);
  EXPECT_EQ(command.find("host")->values, Argv{"a,b:2"});
  EXPECT_EQ(command.parts[0].end, command.words.size());
}

TEST(LaunchCommand, OfSeveralProgramsHasAPartForEach) {
  const auto command = understood("mpiexec -n 2 -env A 1 one x : -n 3 two : four", mpich);
  EXPECT_EQ(programs(command), (Argv{"one", "two", "four"}));
  EXPECT_EQ(command.rank_count(), 6);
}

TEST(LaunchCommand, LeavesTheNumberOfRanksToTheLauncherWhenNoneIsGiven) {
  EXPECT_EQ(understood("mpirun ./app", open_mpi).rank_count(), std::nullopt);
  EXPECT_EQ(understood("srun ./app", slurm).rank_count(), std::nullopt);
  EXPECT_EQ(understood("mpiexec ./app", mpich).rank_count(), 1);
}

TEST(LaunchCommand, OfSrunReadsLettersAsGetoptDoes) {
  const auto command = understood("srun -lN2 -n4 -c 2 --cpu-bind=cores --mpi pmix -K1 -I --exclusive app -n 9", slurm);
  EXPECT_EQ(programs(command), Argv{"app"});
  EXPECT_EQ(command.rank_count(), 4);
  EXPECT_EQ(command.find("nodes")->values, Argv{"2"});
  EXPECT_EQ(command.find("cpu-bind")->values, Argv{"cores"});
}

TEST(LaunchCommand, StandsBehindWordsThatOnlyPrepareItsStart) {
  const auto command = understood("env A=1 B_2=x timeout -k 5 60 nice mpirun -n 2 ./app", open_mpi);
  EXPECT_EQ(command.words[command.launcher], "mpirun");
  EXPECT_EQ(programs(command), Argv{"./app"});
}

TEST(LaunchCommand, IsNotGuessedAtWhenAnOptionIsUnknown) {
  const auto command = understand_launch(split("mpirun -n 2 --odd x ./app"), open_mpi);
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().where.source, "--odd");
  EXPECT_THAT(command.error().hint, HasSubstr("--program"));
  const auto told = understand_launch(split("mpirun -n 2 --odd x ./app"), open_mpi, "./app");
  ASSERT_TRUE(told);
  EXPECT_EQ(programs(*told), Argv{"./app"});
  EXPECT_EQ(programs(understood("mpirun --odd -n 2 ./app", open_mpi)), Argv{"./app"});
}

TEST(LaunchCommand, WithoutAProgramIsRefused) {
  for (const char* const text : {"mpirun -n 2", "mpirun -n 2 a : -n 2", "mpirun -n", "env A=b"}) {
    EXPECT_FALSE(understand_launch(split(text), open_mpi)) << text;
  }
}

std::string rewritten(const std::string& text, std::string_view version, const LaunchChange& change) {
  auto words = rewrite(understood(text, version), change);
  return words ? join(*words) : to_string(words.error());
}

TEST(LaunchChange, GivesVariablesToTheRanksAlone) {
  const LaunchChange change{.leave_out = {}, .options = {}, .environment = {{"A", "1"}}, .wrapper = {}};
  EXPECT_EQ(rewritten("mpirun -n 1 a : -n 2 b", open_mpi, change), "mpirun -x A=1 -n 1 a : -x A=1 -n 2 b");
  EXPECT_EQ(rewritten("mpirun -n 1 a : -n 2 b", mpich, change), "mpirun -genv A 1 -n 1 a : -n 2 b");
  EXPECT_EQ(rewritten("srun -n 1 a", slurm, change), "srun -n 1 --export=ALL,A=1 a");
  EXPECT_EQ(rewritten("srun --export=NONE,B -n 1 a", slurm, change), "srun -n 1 --export=NONE,B,A=1 a");
}

TEST(LaunchChange, GivesSrunValuesWithCommasByEnv) {
  const LaunchChange change{.leave_out = {}, .options = {}, .environment = {{"A", "1,2"}}, .wrapper = {}};
  EXPECT_EQ(rewritten("srun --export=ALL -n 1 a b", slurm, change), "srun --export=ALL -n 1 env A=1,2 a b");
}

TEST(LaunchChange, PutsAWrapperBeforeEveryProgram) {
  const LaunchChange change{.leave_out = {}, .options = {}, .environment = {}, .wrapper = {"bind", "--"}};
  EXPECT_EQ(rewritten("env X=y mpirun -n 1 a x : -n 2 b", mpich, change),
            "env X=y mpirun -n 1 bind -- a x : -n 2 bind -- b");
}

TEST(LaunchChange, ReplacesOptionsWithTheirValues) {
  const LaunchChange change{
      .leave_out = {"map-by", "bind-to", "n"}, .options = {"-n", "4"}, .environment = {}, .wrapper = {}};
  EXPECT_EQ(rewritten("mpirun --map-by core -np 2 --bind-to none -v a --bind-to x", open_mpi, change),
            "mpirun -n 4 -v a --bind-to x");
}

TEST(LaunchChange, OfProgramsInAFileIsRefused) {
  const LaunchChange change{.leave_out = {}, .options = {}, .environment = {}, .wrapper = {"bind"}};
  EXPECT_THAT(rewritten("mpiexec -configfile f", mpich, change), HasSubstr("hint"));
  EXPECT_THAT(rewritten("srun --multi-prog f", slurm, change), HasSubstr("hint"));
}

}  // namespace
}  // namespace rankloom
