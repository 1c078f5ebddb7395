// SPDX-License-Identifier: Apache-2.0
// Who plays which vertex: seats from hosts and bindings, plans that are permutations and never worse, answers to any
// bytes.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/reorder/answer.hpp"
#include "rankloom/place/reorder/plan.hpp"
#include "rankloom/place/reorder/wire.hpp"

namespace rankloom::reorder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Processes in turn on so many hosts.
std::vector<Seat> dealt(std::uint32_t processes, std::uint32_t hosts) {
  std::vector<Seat> seats;
  for (std::uint32_t process = 0; process < processes; ++process)
    seats.push_back({fmt::format("n{}", process % hosts), {}});
  return seats;
}

Plan plan(std::vector<Seat> seats, CommGraph graph, std::string machine = {},
          std::vector<NodeInterior> interiors = {}) {
  auto made = make_plan({std::move(seats), std::move(interiors), std::move(machine), std::move(graph)});
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? *made : Plan{};
}

void expect_permutation(const std::vector<std::int32_t>& ranks) {
  std::vector<std::int32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t at = 0; at < sorted.size(); ++at) EXPECT_EQ(sorted[at], static_cast<std::int32_t>(at));
}

/// Weight between hosts, counted plainly from the ranks that processes got.
double crossing(const CommGraph& graph, const std::vector<Seat>& seats, const std::vector<std::int32_t>& new_rank) {
  std::vector<std::string> host_of(seats.size());
  for (std::size_t process = 0; process < seats.size(); ++process)
    host_of[static_cast<std::size_t>(new_rank[process])] = seats[process].host;
  double weight = 0;
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.targets(from).size(); ++edge) {
      if (host_of[index(from)] != host_of[index(graph.targets(from)[edge])]) weight += graph.bytes(from)[edge];
    }
  }
  return weight;
}

CommGraph random_graph(std::uint32_t vertices, std::uint64_t seed) {
  Random random(seed);
  CommGraphBuilder builder(vertices);
  for (std::uint32_t edge = 0; edge < 3 * vertices; ++edge) {
    const auto from = static_cast<std::uint32_t>(random.below(vertices));
    const auto to = static_cast<std::uint32_t>(random.below(vertices));
    const auto weight = static_cast<double>(1 + random.below(9));
    if (from != to) builder.add(Rank{from}, Rank{to}, weight);
  }
  return std::move(builder).build(false);
}

TEST(ReorderGrid, NumbersTheLastDimensionFastest) {
  const CommGraph graph = grid_graph({2, 3}, {0, 1});
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}, Rank{2}, Rank{3}));
  EXPECT_THAT(graph.targets(Rank{4}), ElementsAre(Rank{1}, Rank{3}, Rank{5}));
  EXPECT_EQ(grid_graph({2}, {1}).bytes(Rank{0})[0], 2) << "both neighbours are one";
  EXPECT_EQ(grid_graph({1, 1}, {1, 1}).edge_count(), 0U);
}

TEST(ReorderPlan, BringsRowsTogether) {
  const Plan made = plan(dealt(16, 4), grid_graph({4, 4}, {0, 0}));
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(made.before.between_hosts, 24);
  EXPECT_EQ(made.after.between_hosts, 16);
  expect_permutation(made.new_rank);
}

TEST(ReorderPlan, KeepsAGoodOrder) {
  std::vector<Seat> blocks;
  for (int process = 0; process < 8; ++process) blocks.push_back({process < 4 ? "a" : "b", {}});
  const Plan made = plan(blocks, grid_graph({8}, {0}));
  EXPECT_FALSE(made.changed);
  EXPECT_THAT(made.new_rank, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(ReorderPlan, LeavesOutThoseWhoAreInTheWay) {
  // Two on each of three hosts, four vertices in a row: two hosts are enough.
  const auto seats = dealt(6, 3);
  const Plan made = plan(seats, grid_graph({4}, {0}));
  expect_permutation(made.new_rank);
  EXPECT_EQ(made.after.between_hosts, 2);
}

TEST(ReorderPlan, IsAPermutationThatCostsWhatItSaysAndNeverMore) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto processes = static_cast<std::uint32_t>(2 + seed % 23), hosts = static_cast<std::uint32_t>(1 + seed % 5);
    const std::uint32_t vertices = std::max<std::uint32_t>(1, processes - static_cast<std::uint32_t>(seed % 3));
    const CommGraph graph = random_graph(vertices, seed);
    const auto seats = dealt(processes, hosts);
    const Plan made = plan(seats, graph);
    expect_permutation(made.new_rank);
    std::vector<std::int32_t> given(processes);
    std::iota(given.begin(), given.end(), 0);
    EXPECT_DOUBLE_EQ(made.before.between_hosts, crossing(graph, seats, given));
    EXPECT_DOUBLE_EQ(made.after.between_hosts, crossing(graph, seats, made.new_rank));
    EXPECT_LE(made.after.cost, made.before.cost);
    EXPECT_EQ(made.changed, made.after.cost < made.before.cost);
    EXPECT_EQ(made.new_rank, plan(seats, graph).new_rank) << "the same question, the same answer";
  }
}

TEST(ReorderPlan, TellsCoresApartWhereProcessesAreBound) {
  const NodeInterior inside{{"a"}, *parse_topology_string("package:2=5 core:4=1")};
  std::vector<Seat> seats;
  for (std::uint32_t process = 0; process < 8; ++process) seats.push_back({"a", {process % 2 * 4 + process / 2}});
  const Plan made = plan(seats, grid_graph({8}, {0}), {}, {inside});
  EXPECT_TRUE(made.changed);
  EXPECT_DOUBLE_EQ(made.before.cost, 14 * 5);
  EXPECT_DOUBLE_EQ(made.after.cost, 12 * 1 + 2 * 5);
}

TEST(ReorderPlan, TellsPackagesApartWhereProcessesAreBoundToPackages) {
  const NodeInterior inside{{"a"}, *parse_topology_string("package:2=5 core:4=1")};
  std::vector<Seat> seats;
  for (std::uint32_t process = 0; process < 8; ++process) {
    seats.push_back(
        {"a", process % 2 == 0 ? std::vector<std::uint32_t>{0, 1, 2, 3} : std::vector<std::uint32_t>{4, 5, 6, 7}});
  }
  EXPECT_DOUBLE_EQ(plan(seats, grid_graph({8}, {0}), {}, {inside}).after.cost, 2 * 5);
  seats[3].units.clear();  // one that may be anywhere: the host is all that is known
  EXPECT_FALSE(plan(seats, grid_graph({8}, {0}), {}, {inside}).changed);
}

TEST(ReorderPlan, KnowsSwitches) {
  // Hosts n0 n1 at one switch, n2 n3 at the other: in a row of hosts, one cut of three is between switches.
  const Plan made = plan(dealt(8, 4), grid_graph({8}, {0}), "switch:2=10 node:2=5 core:2=1");
  EXPECT_DOUBLE_EQ(made.after.cost, 2 * (5 + 10 + 5));
}

TEST(ReorderPlan, CountsHostsInTheirNaturalOrder) {
  // n9 and n10 are neighbours, n8 and n11 are not theirs.
  std::vector<Seat> seats;
  for (const char* const host : {"n9", "n11", "n10", "n8"}) seats.push_back({host, {}});
  const Plan made = plan(seats, grid_graph({4}, {0}), "switch:2=10 node:2=1 core:1=1");
  EXPECT_DOUBLE_EQ(made.after.cost, 2 * (1 + 10 + 1));
}

TEST(ReorderPlan, SaysWhyAMachineDoesNotFit) {
  auto made = make_plan({dealt(4, 4), {}, "node:3 core:2", grid_graph({4}, {0})});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("has 3 nodes and does not know them all by name, the program runs on 4"));
}

TEST(ReorderAnswer, ReadsWhatTheLibraryWrites) {
  Writer request;
  request.number(request_mark);
  request.text("a \nb \na \nb \n");
  request.number<std::uint32_t>(0);
  request.number(Shape::edges);
  request.number<std::int32_t>(4);
  const std::vector<std::int32_t> edges{0, 1, 5, 2, 3, 5, 1, 1, 7};
  request.numbers(edges.data(), edges.size());
  const std::string reply = answer(request.bytes(), "");
  Reader reader(reply);
  EXPECT_EQ(reader.number<std::uint32_t>(), reply_mark);
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.number<std::int32_t>(), 1);
  EXPECT_DOUBLE_EQ(reader.number<Toll>().between_hosts, 10);
  EXPECT_DOUBLE_EQ(reader.number<Toll>().between_hosts, 0);
  expect_permutation(reader.numbers<std::int32_t>());
  EXPECT_TRUE(reader.good());
}

TEST(ReorderAnswer, SurvivesAnyBytes) {
  Random random(1);
  Writer request;
  request.number(request_mark);
  request.text("a \nb 0-3\n");
  request.number<std::uint32_t>(1);
  request.text("a");
  request.text("{}");
  for (std::size_t size = 0; size <= request.bytes().size(); ++size) {
    std::string bytes = request.bytes().substr(0, size);
    if (size > 4) bytes[4 + random.below(size - 4)] = static_cast<char>(random.below(256));
    const std::string reply = answer(bytes, "");
    Reader said(reply);
    EXPECT_EQ(said.number<std::uint32_t>(), reply_mark);
    EXPECT_NE(said.text(), "");
  }
}

TEST(ReorderUnits, AreListsOfRanges) {
  EXPECT_THAT(*parse_units("0-2,8"), ElementsAre(0, 1, 2, 8));
  EXPECT_TRUE(parse_units("")->empty());
  for (const char* const bad : {"x", "3-1", "1-", "0-99999999999", "1;2"}) EXPECT_FALSE(parse_units(bad)) << bad;
}

}  // namespace
}  // namespace rankloom::reorder
