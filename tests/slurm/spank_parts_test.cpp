// SPDX-License-Identifier: Apache-2.0
// tests of slurm: the parts of the SPANK plugin that need no Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/spank/child.hpp"
#include "slurm/spank/placement.hpp"
#include "slurm/spank/processing_units.hpp"

namespace rankloom::spank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Placement, IsReadAsRankloomWritesIt) {
  const auto placement = read_placement("ranks 3\n0 n2 +1\n1 n1 7\n2 n2 -\n");
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->hosts, ElementsAre("n2", "n1", "n2"));
  EXPECT_EQ(placement->cpus[0].by, Cpu::By::position);
  EXPECT_EQ(placement->cpus[0].value, 1);
  EXPECT_EQ(placement->cpus[1].by, Cpu::By::number);
  EXPECT_EQ(placement->cpus[1].value, 7);
  EXPECT_EQ(placement->cpus[2].by, Cpu::By::nobody);
}

TEST(Placement, IsRefusedUnlessItIsWhole) {
  for (const char* const text :
       {"", "ranks", "ranks 0\n", "ranks 2\n0 n 1\n", "ranks 1\n0 n 1\n1 n 1\n", "ranks 1\n1 n 1\n", "ranks 1\n0 n\n",
        "ranks 1\n0 n x\n", "ranks 1\n0  1\n", "ranks 1\n0 n 1 1\n", "ranks 99999999999\n", "refuse\n"}) {
    EXPECT_FALSE(read_placement(text)) << text;
  }
}

TEST(Placement, TravelsInTheEnvironment) {
  std::vector<Cpu> cpus;
  for (std::uint32_t rank = 0; rank < 20000; ++rank)
    cpus.push_back({rank % 3 == 0   ? Cpu::By::nobody
                    : rank % 3 == 1 ? Cpu::By::number
                                    : Cpu::By::position,
                    rank % 3 * rank});
  std::vector<std::string> entries{"PATH=/bin"};
  for (const auto& [name, value] : to_variables(cpus)) {
    EXPECT_LT(value.size(), 128U << 10U) << "the kernel's limit of one variable";
    entries.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> found;
  const auto back = from_environment(environment.data(), found);
  EXPECT_EQ(found.size(), 3);
  ASSERT_EQ(back.size(), cpus.size());
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    ASSERT_EQ(back[rank].by, cpus[rank].by) << rank;
    ASSERT_EQ(back[rank].value, cpus[rank].value) << rank;
  }
  environment.erase(environment.begin() + 1);  // the first part is lost
  EXPECT_THAT(from_environment(environment.data(), found), IsEmpty());
}

TEST(Placement, NeedsNoVariablesWhereNobodyIsBound) {
  EXPECT_THAT(to_variables(std::vector<Cpu>(4)), IsEmpty());
}

TEST(ProcessingUnits, AreListedAsSlurmListsThem) {
  EXPECT_THAT(numbers_in("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(numbers_in("5"), ElementsAre(5));
  for (const char* const text : {"", "x", "3-1", "1-", "1;2", "0-99999999"}) EXPECT_THAT(numbers_in(text), IsEmpty());
  EXPECT_FALSE(allowed_units().empty());
}

TEST(ProcessingUnits, AreFoundByNumberOrByPosition) {
  const std::vector<std::uint32_t> node{0, 1, 2, 3, 4, 5, 6, 7}, confined{4, 6};
  const auto number = [](std::uint32_t value) { return Cpu{Cpu::By::number, value}; };
  const auto position = [](std::uint32_t value) { return Cpu{Cpu::By::position, value}; };
  EXPECT_EQ(unit_for(number(6), confined, {}), 6);
  EXPECT_FALSE(unit_for(number(5), confined, {})) << "not ours";
  EXPECT_FALSE(unit_for({}, node, {}));
  EXPECT_EQ(unit_for(position(1), confined, {2, 3}), 6) << "the second of those that a cgroup leaves";
  EXPECT_EQ(unit_for(position(1), node, {2, 3}), 3) << "a step that sees the whole node keeps to its cores";
  EXPECT_EQ(unit_for(position(3), {0, 1}, {0, 1, 2, 3}), 1) << "a node that claims more than it has";
}

TEST(Child, IsAskedAndHeard) {
  const auto answer = ask({"sh", "-c", "echo out; echo err >&2"}, std::chrono::seconds(20));
  EXPECT_TRUE(answer.usable);
  EXPECT_EQ(answer.output, "out\n");
  EXPECT_EQ(answer.errors, "err\n");
}

TEST(Child, MayFailInEveryWay) {
  EXPECT_THAT(ask({"/nothing/at-all"}, std::chrono::seconds(20)).errors, HasSubstr("cannot be started"));
  EXPECT_FALSE(ask({"false"}, std::chrono::seconds(20)).usable);
  EXPECT_THAT(ask({"sh", "-c", "kill -9 $$"}, std::chrono::seconds(20)).errors, HasSubstr("without a word"));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(ask({"sleep", "60"}, std::chrono::milliseconds(1000)).errors, HasSubstr("within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(Child, MaySayMuch) {
  const auto answer =
      ask({"sh", "-c", "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2"}, std::chrono::seconds(60));
  EXPECT_EQ(answer.output.size(), 3000000);
  EXPECT_EQ(answer.errors.size(), 300000);
}

}  // namespace
}  // namespace rankloom::spank
