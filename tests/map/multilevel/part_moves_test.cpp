// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/part_moves.hpp"

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"
#include "tests/support/instances.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::topology;
using Rooms = std::vector<std::uint64_t>;

TEST(ImproveCut, NeverEndsAboveItsStartAndSaysTheCut) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto graph = testing::random_weighted(120, 5, seed);
    for (const std::uint64_t slack : {0, 1, 10}) {
      auto part_of = testing::even_parts(120, 6, seed);
      const double before = testing::cut_of(graph, part_of);
      const Rooms room(6, 20 + slack);
      const double cut = improve_cut(graph, room, part_of, 5);
      EXPECT_LT(cut, 0.9 * before);
      EXPECT_DOUBLE_EQ(cut, testing::cut_of(graph, part_of));
      EXPECT_EQ(testing::overload_of(graph, part_of, room), 0);
    }
  }
}

TEST(ImproveCut, TakesVerticesOfDifferentSizes) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<std::uint32_t> sizes(90);
    for (std::uint32_t vertex = 0; vertex < 90; ++vertex) sizes[vertex] = 1 + vertex % 3;
    const auto graph = testing::graph_of(90, testing::random_lines(90, 5, seed), sizes);
    auto part_of = testing::even_parts(90, 5, seed);
    auto room = testing::held_by(graph, part_of, 5);
    for (std::uint64_t& part : room) part += 2;
    const double before = testing::cut_of(graph, part_of);
    const double cut = improve_cut(graph, room, part_of, 5);
    EXPECT_LE(cut, before);
    EXPECT_DOUBLE_EQ(cut, testing::cut_of(graph, part_of));
    EXPECT_EQ(testing::overload_of(graph, part_of, room), 0);
  }
}

TEST(ImproveCut, MovesInRingsWhereEverythingIsFull) {
  // Three cliques on three full parts; one of each has to move on to the next.
  std::vector<testing::Line> lines;
  for (const std::uint32_t first : {0, 6, 12}) testing::add_clique(lines, first, 6);
  std::vector<std::uint32_t> part_of(18);
  for (std::uint32_t vertex = 0; vertex < 18; ++vertex) part_of[vertex] = vertex / 6;
  part_of[0] = 1;
  part_of[6] = 2;
  part_of[12] = 0;
  EXPECT_EQ(improve_cut(testing::graph_of(18, lines), Rooms(3, 6), part_of, 5), 0);
}

TEST(ImproveCut, RelievesWhatIsTooFull) {
  const auto graph = testing::square(10);
  std::vector<std::uint32_t> part_of(100, 0);
  for (std::uint32_t vertex = 60; vertex < 100; ++vertex) part_of[vertex] = 1;
  improve_cut(graph, Rooms{50, 50}, part_of, 10);
  EXPECT_EQ(testing::held_by(graph, part_of, 2), (Rooms{50, 50}));
}

TEST(ImproveCut, HasNothingToDoWithoutEdgesOrPasses) {
  auto part_of = testing::even_parts(10, 2, 1);
  const auto before = part_of;
  EXPECT_EQ(improve_cut(testing::graph_of(10, {}), Rooms{5, 5}, part_of, 3), 0);
  EXPECT_EQ(part_of, before);
  const auto graph = testing::random_weighted(10, 4, 1);
  EXPECT_EQ(improve_cut(graph, Rooms{5, 5}, part_of, 0), testing::cut_of(graph, before));
  EXPECT_EQ(part_of, before);
}

class ImproveMapping : public ::testing::TestWithParam<CostModel> {};

TEST_P(ImproveMapping, NeverEndsAboveItsStartAndSaysTheCost) {
  for (const char* machine : {"node:3=10,1us core:4=1,0.1us", "switch:2=9,2us node:3=4,1us core:2=1,0.1us",
                              "torus:3x4=5,1us core:1=1", "node:3=10,1us core:2+7+3=1,0.1us"}) {
    const auto cores = topology(machine);
    const Distance distance = make_distance(cores, GetParam());
    const auto far = [&](std::uint32_t p, std::uint32_t q) {
      return std::visit([&](const auto& d) { return d(Core{p}, Core{q}).per_byte; }, distance);
    };
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << machine << " " << seed);
      const auto graph = testing::random_weighted(96, 5, seed);
      for (const std::uint64_t slack : {0, 1, 8}) {
        const Rooms room(12, 8 + slack);
        auto core_of = testing::even_parts(96, 12, seed);
        const double before = testing::cost_of(graph, core_of, far);
        const double cost = improve_mapping(graph, distance, room, core_of, 4);
        EXPECT_LT(cost, before);
        EXPECT_NEAR(cost, testing::cost_of(graph, core_of, far), 1e-9 * std::abs(before));
        EXPECT_EQ(testing::overload_of(graph, core_of, room), 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ImproveMapping,
                         ::testing::Values(CostModel::bytes, CostModel::time, CostModel::hopbytes, CostModel::quality),
                         [](const auto& tested) { return std::string(rankloom::info(tested.param).name); });

TEST(ImproveGrouping, CountsWhatCostsMoreThanInsideAPart) {
  const auto machine = topology("switch:3=100 node:4=10 core:2=1");
  const Distance distance = make_distance(machine, CostModel::bytes);
  const auto far = [](std::uint32_t p, std::uint32_t q) { return p == q ? 0.0 : 90.0; };
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto graph = testing::random_weighted(12, 4, seed);  // what twelve nodes hold
    auto switch_of = testing::even_parts(12, 3, seed);
    const double before = testing::cost_of(graph, switch_of, far);
    const Rooms room(3, 4);
    const double cost = improve_grouping(graph, distance, 8, 2, room, switch_of, 5);
    EXPECT_LE(cost, before);
    EXPECT_DOUBLE_EQ(cost, testing::cost_of(graph, switch_of, far));
    EXPECT_EQ(testing::overload_of(graph, switch_of, room), 0);
  }
}

}  // namespace
}  // namespace rankloom::multilevel
