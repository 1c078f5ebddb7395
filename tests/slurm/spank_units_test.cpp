// SPDX-License-Identifier: Apache-2.0
// Tests of slurm/spank: the parts of the SPANK plugin that need no Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/spank/placement.hpp"
#include "slurm/spank/processing_units.hpp"
#include "slurm/spank/program_query.hpp"

namespace rankloom::spank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Placement, IsReadFromTheOutputOfRankloom) {
  const auto placement = read_placement("ranks 3\n0 n2 +1\n1 n1 0-2,7\n2 n2 -\n");
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->hosts, ElementsAre("n2", "n1", "n2"));
  EXPECT_EQ(placement->units[0].kind, UnitChoice::Kind::position);
  EXPECT_THAT(placement->units[0].values, ElementsAre(1));
  EXPECT_EQ(placement->units[1].kind, UnitChoice::Kind::os_index);
  EXPECT_THAT(placement->units[1].values, ElementsAre(0, 1, 2, 7));
  EXPECT_EQ(placement->units[2].kind, UnitChoice::Kind::none);
}

TEST(Placement, IsRejectedIfIncompleteOrMalformed) {
  for (const char* const text :
       {"", "ranks", "ranks 0\n", "ranks 2\n0 n 1\n", "ranks 1\n0 n 1\n1 n 1\n", "ranks 1\n1 n 1\n", "ranks 1\n0 n\n",
        "ranks 1\n0 n x\n", "ranks 1\n0  1\n", "ranks 1\n0 n 1 1\n", "ranks 99999999999\n", "refuse\n"}) {
    EXPECT_FALSE(read_placement(text)) << text;
  }
}

TEST(Placement, IsPassedInTheEnvironment) {
  std::vector<UnitChoice> cpus;
  for (std::uint32_t rank = 0; rank < 20000; ++rank)
    cpus.push_back(
        {rank % 3 == 0   ? UnitChoice::Kind::none
         : rank % 3 == 1 ? UnitChoice::Kind::os_index
                         : UnitChoice::Kind::position,
         rank % 3 == 0 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{rank, rank + 1, 2 * rank + 7}});
  std::vector<std::string> entries{"PATH=/bin"};
  for (const auto& [name, value] : write_variables(cpus)) {
    EXPECT_LT(value.size(), 128U << 10U) << "the kernel limits the length of a variable";
    entries.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> names;
  const auto decoded = read_variables(environment.data(), names);
  EXPECT_EQ(names.size(), 10);
  ASSERT_EQ(decoded.size(), cpus.size());
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    ASSERT_EQ(decoded[rank].kind, cpus[rank].kind) << rank;
    ASSERT_EQ(decoded[rank].values, cpus[rank].values) << rank;
  }
  environment.erase(environment.begin() + 1);  // the first variable is missing
  EXPECT_THAT(read_variables(environment.data(), names), IsEmpty());
}

TEST(Placement, NeedsNoVariablesIfNoRankIsBound) {
  EXPECT_THAT(write_variables(std::vector<UnitChoice>(4)), IsEmpty());
}

TEST(ProcessingUnits, AreParsedFromSlurmsLists) {
  EXPECT_THAT(parse_units("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_units("5"), ElementsAre(5));
  for (const char* const text : {"", "x", "3-1", "1-", "1;2", "0-99999999"}) EXPECT_THAT(parse_units(text), IsEmpty());
  EXPECT_FALSE(allowed_units().empty());
}

TEST(ProcessingUnits, AreFoundByOsIndexOrByPosition) {
  const std::vector<std::uint32_t> node{0, 1, 2, 3, 4, 5, 6, 7}, confined{4, 6};
  using Units = std::vector<std::uint32_t>;
  const auto numbers = [](Units values) { return UnitChoice{UnitChoice::Kind::os_index, std::move(values)}; };
  const auto positions = [](Units values) { return UnitChoice{UnitChoice::Kind::position, std::move(values)}; };
  EXPECT_THAT(find_units(numbers({6}), confined, {}), ElementsAre(6));
  EXPECT_THAT(find_units(numbers({4, 6}), confined, {}), ElementsAre(4, 6));
  EXPECT_THAT(find_units(numbers({4, 5}), confined, {}), ElementsAre(4)) << "5 is not a unit of the step";
  EXPECT_THAT(find_units(numbers({5, 7}), confined, {}), IsEmpty());
  EXPECT_THAT(find_units({}, node, {}), IsEmpty());
  EXPECT_THAT(find_units(positions({1}), confined, {2, 3}), ElementsAre(6)) << "the second unit that the cgroup allows";
  EXPECT_THAT(find_units(positions({0, 1}), node, {2, 3}), ElementsAre(2, 3)) << "an unconfined step uses its cores";
  EXPECT_THAT(find_units(positions({3}), {0, 1}, {0, 1, 2, 3}), ElementsAre(1))
      << "a node that is configured with more cores than it has";
}

TEST(ProgramQuery, ReturnsOutputAndErrors) {
  const auto result = query_program({"sh", "-c", "echo out; echo err >&2"}, std::chrono::seconds(20));
  EXPECT_TRUE(result.succeeded);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(ProgramQuery, ReportsEveryKindOfFailure) {
  EXPECT_THAT(query_program({"/nothing/at-all"}, std::chrono::seconds(20)).errors, HasSubstr("cannot be started"));
  EXPECT_FALSE(query_program({"false"}, std::chrono::seconds(20)).succeeded);
  EXPECT_THAT(query_program({"sh", "-c", "kill -9 $$"}, std::chrono::seconds(20)).errors,
              HasSubstr("failed without an error message"));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(query_program({"sleep", "60"}, std::chrono::milliseconds(1000)).errors, HasSubstr("within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(ProgramQuery, ReadsLongOutput) {
  const auto result =
      query_program({"sh", "-c", "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2"}, std::chrono::seconds(60));
  EXPECT_EQ(result.output.size(), 3000000);
  EXPECT_EQ(result.errors.size(), 300000);
}

}  // namespace
}  // namespace rankloom::spank
