// SPDX-License-Identifier: Apache-2.0
// Tests of map/command: programs and mapping files as mappers.
#include "rankloom/map/command/command_mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/command/command_template.hpp"
#include "rankloom/map/command/core_numbers.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A chain of ranks with these weights.
CommGraph chain(const std::vector<double>& weights) {
  CommGraphBuilder builder(static_cast<std::uint32_t>(weights.size() + 1));
  for (std::uint32_t i = 0; i < weights.size(); ++i) builder.add(Rank{i}, Rank{i + 1}, weights[i]);
  return std::move(builder).build(false);
}

/// Writes the number of ranks only; the formats of real programs are tests of capture.
Result<void> write_ranks(const CommGraph& graph, std::string_view format, const std::string& path) {
  return write_file(path, std::string(format) + " " + std::to_string(graph.rank_count()) + "\n");
}

class CommandMapperTest : public ::testing::Test {
 protected:
  Result<MapResult> run(const std::string& spec, std::chrono::milliseconds limit = std::chrono::minutes(1)) {
    auto mapper = make_command_mapper(spec, {limit, write_ranks});
    if (!mapper) return propagate(mapper);
    const MapProblem problem{graph, topology, capacities, CostModel::bytes, {}};
    return run_mapper(*mapper, problem, {.seed = 7, .deadline = {}}, {.keep_worse = true});
  }

  CommGraph graph = chain({1, 2, 3});
  Topology topology = *load_topology("node:2=10 core:2=1");
  Capacities capacities = *Capacities::of(topology, 4, {});
};

TEST(CommandTemplate, ReplacesPlaceholdersByQuotedValues) {
  const auto command = CommandTemplate::parse("./m {graph} --seed={seed} > {out}");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->fill({{"graph", "/tmp/a b"}, {"seed", "3"}, {"out", "o"}}), "./m '/tmp/a b' --seed=3 > o");
  EXPECT_TRUE(command->uses("seed"));
  EXPECT_FALSE(command->uses("machine"));
}

TEST(CommandTemplate, LeavesBracesOfTheShellAndOfAwk) {
  const auto command = CommandTemplate::parse("awk '{print $1}' {graph} ${HOME} ${x}");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->fill({{"graph", "g"}}), "awk '{print $1}' g ${HOME} ${x}");
}

TEST(CommandTemplate, NamesTheKnownPlaceholdersIfOneIsUnknown) {
  const auto command = CommandTemplate::parse("./m {grpah}");
  ASSERT_FALSE(command);
  EXPECT_THAT(command.error().what, HasSubstr("{grpah}"));
  EXPECT_THAT(command.error().hint, HasSubstr("{graph}, {graph.metis}"));
  EXPECT_FALSE(CommandTemplate::parse("  "));
}

TEST_F(CommandMapperTest, ReadsTheCoresFromTheFileThatTheCommandWrites) {
  const auto result = run("exec:printf '3\\n2\\n1\\n0\\n' > {out}; cat {graph} > /dev/null");
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_THAT(std::vector<Core>(result->mapping.cores().begin(), result->mapping.cores().end()),
              ElementsAre(Core{3}, Core{2}, Core{1}, Core{0}));
  EXPECT_EQ(result->cost, 1 + 2 * 10 + 3);
  ASSERT_TRUE(result->usage);
  EXPECT_GT(result->usage->peak_bytes, 0U);
  EXPECT_GE(result->usage->seconds, 0);
}

TEST_F(CommandMapperTest, ReadsStandardOutputWithoutTheFile) {
  EXPECT_TRUE(run("exec:echo '# comment'; seq 0 3"));
}

TEST_F(CommandMapperTest, FillsInWhatTheCommandAsksFor) {
  EXPECT_TRUE(run("exec:test {seed} = 7 && test {ranks} = 4 && test {cores} = 4 && seq 0 3"));
  EXPECT_TRUE(run("exec:test {hierarchy} = 2:2 && test {distance} = 1:10 && seq 0 3"));
  EXPECT_TRUE(
      run("exec:grep -q 'metis 4' {graph} && grep -q 'pairs 4' {graph.pairs} && "
          "grep -q 'matrix-market 4' {graph.mtx} && grep -q node {machine} && seq 0 3"));
}

TEST_F(CommandMapperTest, NamesTheLineOfAnInvalidResult) {
  const auto check = [&](const std::string& numbers, std::uint64_t line, const std::string& what) {
    const auto result = run("exec:printf '" + numbers + "'");
    ASSERT_FALSE(result) << numbers;
    EXPECT_EQ(result.error().code, Code::bad_input);
    EXPECT_EQ(result.error().where.line, line) << numbers;
    EXPECT_THAT(result.error().what, HasSubstr(what));
    EXPECT_FALSE(result.error().hint.empty());
  };
  check("0\\n1\\n4\\n3\\n", 3, "core 4 does not exist");
  check("0\\n1\\n1\\n3\\n", 3, "core 1 gets more ranks than its capacity of 1");
  check("0\\n1\\n2\\n", 3, "3 core numbers, but there are 4 ranks");
  check("0\\n1\\n2\\n3\\n0\\n", 5, "more than 4 core numbers");
  check("0\\nx\\n", 2, "\"x\" is not a core number");
  check("0 1\\n", 1, "follows the core number");
  check("", 0, "0 core numbers");
}

TEST_F(CommandMapperTest, ReportsTheStatusAndTheLastLineOfAFailedCommand) {
  const auto result = run("exec:echo first >&2; echo no licence >&2; exit 3");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::environment);
  EXPECT_THAT(result.error().what, HasSubstr("status 3: no licence"));
  const auto missing = run("exec:./does-not-exist {graph}");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, HasSubstr("status 127"));
  const auto no_file = run("exec:true {out}");
  ASSERT_FALSE(no_file);
  EXPECT_THAT(no_file.error().what, HasSubstr("wrote no file {out}"));
}

TEST_F(CommandMapperTest, EndsACommandAtItsTimeLimit) {
  const auto result = run("exec:sleep 100 | sleep 100", std::chrono::milliseconds(50));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().what, HasSubstr("did not end within 50"));
  EXPECT_THAT(result.error().hint, HasSubstr("--time-limit"));
}

TEST(HierarchyText, SkipsLevelsWithOneObjectAndRefusesOtherMachines) {
  const auto text = hierarchy_text(*load_topology("switch:6=100 node:8=10 package:1 core:4=1"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->hierarchy, "4:8:6");
  EXPECT_EQ(text->distance, "1:10:100");
  EXPECT_FALSE(hierarchy_text(*load_topology("torus:2x2 core:2")));
}

TEST(IntegralGraph, KeepsSmallIntegersAndScalesFractions) {
  const CommGraph kept = integral_graph(chain({1, 2, 3}));
  EXPECT_TRUE(kept.undirected());
  EXPECT_EQ(2 * kept.bytes(Rank{1})[1], 2);
  const CommGraph scaled = integral_graph(chain({0.5, 1.5}));
  const double light = 2 * scaled.bytes(Rank{0})[0], heavy = 2 * scaled.bytes(Rank{2})[0];
  EXPECT_EQ(light, static_cast<double>(static_cast<std::uint32_t>(light)));
  EXPECT_NEAR(heavy / light, 3, 1e-6);
}

TEST(GivenMapper, ReturnsTheStart) {
  const CommGraph graph = chain({1});
  const Topology topology = *load_topology("node:2=10 core:2=1");
  const Capacities capacities = *Capacities::of(topology, 2, {});
  const std::vector<Core> start{Core{0}, Core{2}};
  const auto mapper = make_given_mapper("file:a.map");
  const auto result = run_mapper(mapper, {graph, topology, capacities, CostModel::bytes, start},
                                 {.seed = 0, .deadline = {}}, {.keep_worse = true});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->cost, 10);
  EXPECT_FALSE(
      run_mapper(mapper, {graph, topology, capacities, CostModel::bytes, {}}, {.seed = 0, .deadline = {}}, {}));
}

}  // namespace
}  // namespace rankloom
