// SPDX-License-Identifier: Apache-2.0
// Tests of place/reorder: machines from process bindings, reorderings that are permutations and never worse, and
// replies to any bytes.
#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/reorder/message_format.hpp"
#include "rankloom/place/reorder/rank_reordering.hpp"
#include "rankloom/place/reorder/request_handler.hpp"

namespace rankloom::reorder {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Processes distributed round-robin over the hosts.
std::vector<ProcessBinding> round_robin(std::uint32_t processes, std::uint32_t hosts) {
  std::vector<ProcessBinding> bindings;
  for (std::uint32_t process = 0; process < processes; ++process)
    bindings.push_back({fmt::format("n{}", process % hosts), {}});
  return bindings;
}

Reordering reorder(std::vector<ProcessBinding> bindings, CommGraph graph, std::string machine = {},
                   std::vector<NodeInterior> interiors = {}) {
  auto reordering =
      compute_reordering({std::move(bindings), std::move(interiors), std::move(machine), std::move(graph)});
  EXPECT_TRUE(reordering) << to_string(reordering.error());
  return reordering ? *reordering : Reordering{};
}

void expect_permutation(const std::vector<std::int32_t>& ranks) {
  std::vector<std::int32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t at = 0; at < sorted.size(); ++at) EXPECT_EQ(sorted[at], static_cast<std::int32_t>(at));
}

/// The weight of the edges between hosts, computed directly from the new ranks.
double weight_between_hosts(const CommGraph& graph, const std::vector<ProcessBinding>& bindings,
                            const std::vector<std::int32_t>& new_rank) {
  std::vector<std::string> host_of(bindings.size());
  for (std::size_t process = 0; process < bindings.size(); ++process)
    host_of[static_cast<std::size_t>(new_rank[process])] = bindings[process].host;
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
  EXPECT_EQ(grid_graph({2}, {1}).bytes(Rank{0})[0], 2) << "both neighbours are the same vertex";
  EXPECT_EQ(grid_graph({1, 1}, {1, 1}).edge_count(), 0U);
}

TEST(RankReordering, PlacesNeighboursOnOneHost) {
  const Reordering reordering = reorder(round_robin(16, 4), grid_graph({4, 4}, {0, 0}));
  EXPECT_TRUE(reordering.changed);
  EXPECT_EQ(reordering.before.between_hosts, 24);
  EXPECT_EQ(reordering.after.between_hosts, 16);
  expect_permutation(reordering.new_rank);
}

TEST(RankReordering, KeepsAGoodOrder) {
  std::vector<ProcessBinding> blocks;
  for (int process = 0; process < 8; ++process) blocks.push_back({process < 4 ? "a" : "b", {}});
  const Reordering reordering = reorder(blocks, grid_graph({8}, {0}));
  EXPECT_FALSE(reordering.changed);
  EXPECT_THAT(reordering.new_rank, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(RankReordering, LeavesOutProcessesThatAreNotNeeded) {
  // Two processes on each of three hosts and four vertices in a row: two hosts suffice.
  const auto bindings = round_robin(6, 3);
  const Reordering reordering = reorder(bindings, grid_graph({4}, {0}));
  expect_permutation(reordering.new_rank);
  EXPECT_EQ(reordering.after.between_hosts, 2);
}

TEST(RankReordering, IsAPermutationWithTheReportedCostAndNeverWorse) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto processes = static_cast<std::uint32_t>(2 + seed % 23), hosts = static_cast<std::uint32_t>(1 + seed % 5);
    const std::uint32_t vertices = std::max<std::uint32_t>(1, processes - static_cast<std::uint32_t>(seed % 3));
    const CommGraph graph = random_graph(vertices, seed);
    const auto bindings = round_robin(processes, hosts);
    const Reordering reordering = reorder(bindings, graph);
    expect_permutation(reordering.new_rank);
    std::vector<std::int32_t> given(processes);
    std::iota(given.begin(), given.end(), 0);
    EXPECT_DOUBLE_EQ(reordering.before.between_hosts, weight_between_hosts(graph, bindings, given));
    EXPECT_DOUBLE_EQ(reordering.after.between_hosts, weight_between_hosts(graph, bindings, reordering.new_rank));
    EXPECT_LE(reordering.after.cost, reordering.before.cost);
    EXPECT_EQ(reordering.changed, reordering.after.cost < reordering.before.cost);
    EXPECT_EQ(reordering.new_rank, reorder(bindings, graph).new_rank) << "the result is deterministic";
  }
}

TEST(RankReordering, DistinguishesCoresIfProcessesAreBoundToCores) {
  const NodeInterior interior{{"a"}, *parse_topology_string("package:2=5 core:4=1")};
  std::vector<ProcessBinding> bindings;
  for (std::uint32_t process = 0; process < 8; ++process) bindings.push_back({"a", {process % 2 * 4 + process / 2}});
  const Reordering reordering = reorder(bindings, grid_graph({8}, {0}), {}, {interior});
  EXPECT_TRUE(reordering.changed);
  EXPECT_DOUBLE_EQ(reordering.before.cost, 14 * 5);
  EXPECT_DOUBLE_EQ(reordering.after.cost, 12 * 1 + 2 * 5);
}

TEST(RankReordering, DistinguishesPackagesIfProcessesAreBoundToPackages) {
  const NodeInterior interior{{"a"}, *parse_topology_string("package:2=5 core:4=1")};
  std::vector<ProcessBinding> bindings;
  for (std::uint32_t process = 0; process < 8; ++process) {
    bindings.push_back(
        {"a", process % 2 == 0 ? std::vector<std::uint32_t>{0, 1, 2, 3} : std::vector<std::uint32_t>{4, 5, 6, 7}});
  }
  EXPECT_DOUBLE_EQ(reorder(bindings, grid_graph({8}, {0}), {}, {interior}).after.cost, 2 * 5);
  bindings[3].units.clear();  // one unbound process: only hosts are distinguished
  EXPECT_FALSE(reorder(bindings, grid_graph({8}, {0}), {}, {interior}).changed);
}

TEST(RankReordering, UsesTheSwitchesOfTheMachine) {
  // n0 and n1 are at one switch, n2 and n3 at the other: one of the three cuts is between switches.
  const Reordering reordering = reorder(round_robin(8, 4), grid_graph({8}, {0}), "switch:2=10 node:2=5 core:2=1");
  EXPECT_DOUBLE_EQ(reordering.after.cost, 2 * (5 + 10 + 5));
}

TEST(RankReordering, AssignsNodesInTheNaturalOrderOfHostNames) {
  // n8 and n9 are at one switch, n10 and n11 at the other.
  std::vector<ProcessBinding> bindings;
  for (const char* const host : {"n9", "n11", "n10", "n8"}) bindings.push_back({host, {}});
  const Reordering reordering = reorder(bindings, grid_graph({4}, {0}), "switch:2=10 node:2=1 core:1=1");
  EXPECT_DOUBLE_EQ(reordering.after.cost, 2 * (1 + 10 + 1));
  // Only numbers are compared by their length: a9 and a10 are at one switch, b8 and b11 at the other.
  for (std::size_t at = 0; const char* const host : {"b11", "a10", "b8", "a9"}) bindings[at++].host = host;
  const Reordering named = reorder(bindings, grid_graph({4}, {0}), "switch:2=10 node:2=1 core:1=1");
  std::string letters(4, ' ');
  for (std::size_t process = 0; process < 4; ++process)
    letters.at(static_cast<std::size_t>(named.new_rank[process])) = bindings[process].host[0];
  EXPECT_THAT(letters, AnyOf("aabb", "bbaa"));
}

TEST(RankReordering, RejectsAMachineThatDoesNotMatchTheHosts) {
  auto reordering = compute_reordering({round_robin(4, 4), {}, "node:3 core:2", grid_graph({4}, {0})});
  ASSERT_FALSE(reordering);
  EXPECT_THAT(reordering.error().what, HasSubstr("it has 3 nodes and no node for some of the 4 hosts"));
}

/// The beginning of a request for a graph: a line per process with its host and processing units, without machines.
MessageWriter graph_request(const std::string& processes, std::int32_t vertices) {
  MessageWriter request;
  request.number(request_magic);
  request.text(processes);
  request.number<std::uint32_t>(0);
  request.number(TopologyKind::edges);
  request.number(vertices);
  return request;
}

TEST(ReorderRequestHandler, RepliesToARequestOfTheLibrary) {
  MessageWriter request = graph_request("a \nb \na \nb \n", 4);
  const std::vector<std::int32_t> edges{0, 1, 5, 2, 3, 5, 1, 1, 7};
  request.numbers(edges.data(), edges.size());
  const std::string reply = handle_request(request.bytes(), "");
  MessageReader reader(reply);
  EXPECT_EQ(reader.number<std::uint32_t>(), reply_magic);
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.number<std::int32_t>(), 1);
  EXPECT_DOUBLE_EQ(reader.number<PlacementCost>().between_hosts, 10);
  EXPECT_DOUBLE_EQ(reader.number<PlacementCost>().between_hosts, 0);
  expect_permutation(reader.numbers<std::int32_t>());
  EXPECT_TRUE(reader.good());
}

TEST(ReorderRequestHandler, RepliesWithAnErrorToInvalidBytes) {
  Random random(1);
  MessageWriter request;
  request.number(request_magic);
  request.text("a \nb 0-3\n");
  request.number<std::uint32_t>(1);
  request.text("a");
  request.text("{}");
  for (std::size_t size = 0; size <= request.bytes().size(); ++size) {
    std::string bytes = request.bytes().substr(0, size);
    if (size > 4) bytes[4 + random.below(size - 4)] = static_cast<char>(random.below(256));
    const std::string reply = handle_request(bytes, "");
    MessageReader message(reply);
    EXPECT_EQ(message.number<std::uint32_t>(), reply_magic);
    EXPECT_NE(message.text(), "");
  }
}

TEST(ReorderRequestHandler, RejectsMoreVerticesThanProcesses) {
  MessageWriter request = graph_request("a \nb \n", 2'000'000'000);
  request.numbers<std::int32_t>(nullptr, 0);
  const std::string reply = handle_request(request.bytes(), "");
  MessageReader reader(reply);
  EXPECT_EQ(reader.number<std::uint32_t>(), reply_magic);
  EXPECT_NE(reader.text().find("more vertices than there are processes"), std::string::npos);
}

}  // namespace
}  // namespace rankloom::reorder
