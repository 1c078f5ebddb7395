// SPDX-License-Identifier: Apache-2.0
// evaluate: traffic by message size and distance.
#include "rankloom/evaluate/size_distance.hpp"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::every_machine;
using testing::random_graph;
using testing::random_placement;
using testing::topology;

std::vector<Core> cores(std::initializer_list<std::uint32_t> list) {
  std::vector<Core> result;
  for (const std::uint32_t core : list) result.push_back(Core{core});
  return result;
}

/// "hops/level: class bytes …", by row.
std::vector<std::string> text_of(const std::vector<SizesAtDistance>& rows) {
  std::vector<std::string> lines;
  for (const SizesAtDistance& row : rows) {
    lines.push_back(std::to_string(row.hops) + "/" + std::to_string(row.level));
    for (std::size_t size = 0; size < row.bytes.size(); ++size) {
      if (row.bytes[size] > 0)
        lines.back() += " 2^" + std::to_string(size) + ":" + std::to_string(std::lround(row.bytes[size]));
    }
  }
  return lines;
}

CommGraph pairs() {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 1023, 1);    // 2^9
  builder.add(Rank{0}, Rank{2}, 4096, 4);    // 2^10
  builder.add(Rank{3}, Rank{0}, 10, 10);     // 2^0
  builder.add(Rank{2}, Rank{3}, 5e12, 1);    // beyond the last class
  builder.add(Rank{1}, Rank{1}, 1024, 0.5);  // itself, 2^11
  return std::move(builder).build(true);
}

TEST(SizesByDistance, SeparatesLevelsOfATree) {
  EXPECT_THAT(text_of(sizes_by_distance(pairs(), topology("node:2=10 core:2=1"), cores({0, 1, 2, 3}))),
              ::testing::ElementsAre("0/0 2^0:10 2^10:4096", "0/1 2^9:1023 2^39:5000000000000", "0/2 2^11:1024"));
}

TEST(SizesByDistance, SeparatesHopsOfANetwork) {
  const Topology ring = topology("torus:8=5 core:1=1");
  EXPECT_THAT(
      text_of(sizes_by_distance(pairs(), ring, cores({0, 4, 6, 5}))),
      ::testing::ElementsAre("4/0 2^9:1023", "3/0 2^0:10", "2/0 2^10:4096", "1/0 2^39:5000000000000", "0/2 2^11:1024"));
  const Topology line = topology("mesh:200 core:1=1");
  EXPECT_THAT(text_of(sizes_by_distance(pairs(), line, cores({0, 199, 100, 1}))),
              ::testing::ElementsAre("32/0 2^9:1023 2^10:4096 2^39:5000000000000", "1/0 2^0:10", "0/2 2^11:1024"));
}

TEST(SizesByDistance, IsUnknownWithoutMessages) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 100);
  const CommGraph graph = std::move(builder).build(false);
  EXPECT_TRUE(sizes_by_distance(graph, topology("core:2=1"), cores({0, 1})).empty());
}

TEST(SizesByDistance, CountsEveryByteOnceOnEveryMachine) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    const CommGraph graph = random_graph(9, 0.5, 3);
    const auto capacities = Capacities::of(machine, 9, {});
    ASSERT_TRUE(capacities);
    const auto rows = sizes_by_distance(graph, machine, random_placement(9, machine, *capacities, 7));
    double sum = 0;
    for (const SizesAtDistance& row : rows) sum = std::accumulate(row.bytes.begin(), row.bytes.end(), sum);
    EXPECT_NEAR(sum, graph.has_messages() ? graph.total_bytes() : 0, 1e-9 * graph.total_bytes());
  }
}

}  // namespace
}  // namespace rankloom
