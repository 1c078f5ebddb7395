// SPDX-License-Identifier: Apache-2.0
// tests of place: the reports of the ranks, compared with the mapping.
#include "rankloom/place/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

constexpr auto core = EmitOptions::Bind::core;
constexpr auto none = EmitOptions::Bind::none;

/// Rank 0 on cpu 1 of a, rank 1 on cpu 0 of b.
Deployment two_ranks() {
  const std::vector<std::string> hosts{"a", "b.cluster"};
  return *deploy(std::vector<Core>{Core{1}, Core{2}}, rankloom::testing::topology("node:2=10 core:2=1"), hosts);
}

std::vector<BindingReport> reports(const std::string& text) {
  auto read = read_reports(FileContents("report", text));
  EXPECT_TRUE(read) << to_string(read.error());
  return read ? *read : std::vector<BindingReport>{};
}

TEST(Verify, ConfirmsRanksThatRunWhereTheMappingPlacesThem) {
  EXPECT_TRUE(verify(two_ranks(), core, reports("1 b 0\n0 a 1\n"), "x").all());
  EXPECT_TRUE(verify(two_ranks(), none, reports("0 a.cluster 0-1\n1 b.cluster 0-63\n"), "x").all());
}

TEST(Verify, AllowsTheSecondHardwareThreadOfACore) {
  EXPECT_TRUE(verify(two_ranks(), core, reports("0 a 1,65\n1 b 0,64\n"), "x").all());
}

TEST(Verify, NamesEveryMisplacedRank) {
  const auto verification = verify(two_ranks(), core, reports("0 b 1\n1 b 0-1\n"), "x");
  EXPECT_EQ(verification.confirmed, 0);
  ASSERT_EQ(verification.differences.size(), 2);
  EXPECT_EQ(verification.differences[0].requested, "a cpu 1");
  EXPECT_EQ(verification.differences[0].actual, "b cpu 1");
  EXPECT_EQ(verification.differences[1].actual, "b cpus 0-1");
  EXPECT_FALSE(verify(two_ranks(), core, reports("0 a 0\n1 b 0\n"), "x").all());
  EXPECT_FALSE(verify(two_ranks(), none, reports("0 a 0\n1 b.other 0\n"), "x").all());
}

TEST(Verify, ComparesAllProcessingUnitsOfASlot) {
  const auto deployment =
      *deploy(std::vector<Core>{Core{0}, Core{4}}, rankloom::testing::topology("package:2=3 core:2=2 pu:2=1"),
              std::vector<std::string>{"a"}, SlotShape{.cores = 2});
  EXPECT_TRUE(verify(deployment, core, reports("0 a 0-3\n1 a 4-7\n"), "x").all());
  const auto verification = verify(deployment, core, reports("0 a 0\n1 a 3-7\n"), "x");
  EXPECT_EQ(verification.confirmed, 0) << "fewer units than the slot, and units of another slot";
  EXPECT_EQ(verification.differences[0].requested, "a cpus 0-3");
}

TEST(Verify, ComparesMemoryAndGpus) {
  Deployment deployment =
      *deploy(std::vector<Core>{Core{0}, Core{2}}, rankloom::testing::topology("numa:2=3 gpu:1 core:2=1"),
              std::vector<std::string>{"a"}, SlotShape{.cores = 2, .gpus = 1});
  deployment.settings.memory = RankSettings::Memory::local;
  const std::string good = "0 a 0-1 memory local gpus 0\n1 a 2-3 memory local gpus 1 threads 2-3:5\n";
  EXPECT_TRUE(verify(deployment, core, reports(good), "x").all());
  const auto verification =
      verify(deployment, core, reports("0 a 0-1 memory ? gpus 0\n1 a 2-3 memory local gpus 0\n"), "x");
  EXPECT_EQ(verification.confirmed, 0);
  EXPECT_EQ(verification.differences[0].requested, "a cpus 0-1, memory local, GPUs 0");
  EXPECT_EQ(verification.differences[0].actual, "a cpus 0-1, memory ?, GPUs 0");
  EXPECT_EQ(verification.differences[1].actual, "a cpus 2-3, memory local, GPUs 0");
  deployment.settings = {.variables = false};
  EXPECT_TRUE(verify(deployment, core, reports("0 a 0-1\n1 a 2-3\n"), "x").all());
}

TEST(Verify, AThreadOutsideOfTheSlotIsADifference) {
  EXPECT_TRUE(verify(two_ranks(), core, reports("0 a 1\n1 b 0\n0 a 1 threads 1:10 1:0\n"), "x").all());
  const auto verification = verify(two_ranks(), core, reports("0 a 1 threads 1:10 0:7\n1 b 0\n"), "x");
  ASSERT_EQ(verification.differences.size(), 1);
  EXPECT_EQ(verification.differences[0].actual, "a cpu 1, a thread on cpu 0");
}

TEST(Verify, CountsRanksThatDidNotReport) {
  const auto verification = verify(two_ranks(), core, reports("0 a 1\n"), "x");
  EXPECT_EQ(verification.confirmed, 1);
  EXPECT_EQ(verification.unreported, 1);
  EXPECT_EQ(verification.differences[0].actual, "did not report");
}

TEST(Verify, TreatsLocalhostAsThisHost) {
  const std::vector<std::string> hosts{"localhost"};
  const auto deployment = *deploy(std::vector<Core>{Core{0}}, rankloom::testing::topology("core:2=1"), hosts);
  EXPECT_TRUE(verify(deployment, core, reports("0 me 0\n"), "me").all());
  EXPECT_FALSE(verify(deployment, core, reports("0 you 0\n"), "me").all());
}

TEST(Verify, RefusesDamagedReports) {
  for (const char* const text : {"x a 0\n", "0\n", "0 a 3-1\n", "0 a 0,x\n", "0 a 99999999\n"})
    EXPECT_FALSE(read_reports(FileContents("report", text))) << text;
  for (const char* const text : {"0 a 0 thread\n", "0 a 0 threads 1\n", "0 a 0 threads 1:x\n", "0 a 0 threads 1:2 3"})
    EXPECT_TRUE(reports(text)[0].threads.empty()) << text;
  EXPECT_EQ(reports("0 a 0-2,5,7-8\n")[0].cpus, (std::vector<std::uint32_t>{0, 1, 2, 5, 7, 8}));
}

}  // namespace
}  // namespace rankloom
