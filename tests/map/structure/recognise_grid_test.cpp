// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"

namespace rankloom {
namespace {

using testing::shuffled;
using testing::Stencil;

std::vector<std::uint32_t> coordinates_of(const Grid& grid, Rank rank) {
  std::vector<std::uint32_t> coordinates(grid.extent.size());
  std::uint32_t cell = grid.cell(index(rank));
  for (std::size_t axis = coordinates.size(); axis-- > 0; cell /= grid.extent[axis])
    coordinates[axis] = cell % grid.extent[axis];
  return coordinates;
}

/// A reference check of a grid: every rank has its own cell, communicating ranks are in adjacent cells, and the
/// directions contain all bytes.
void expect_correct(const Grid& grid, const CommGraph& graph) {
  std::vector<std::uint32_t> ranks_in(graph.rank_count(), 0);
  double bytes = 0;
  for (const Rank rank : graph.ranks()) {
    ASSERT_LT(grid.cell(index(rank)), graph.rank_count());
    ++ranks_in[grid.cell(index(rank))];
    const auto from = coordinates_of(grid, rank);
    for (const Rank other : graph.targets(rank)) {
      const auto to = coordinates_of(grid, other);
      for (std::size_t axis = 0; axis < from.size(); ++axis) {
        const std::uint32_t difference = from[axis] > to[axis] ? from[axis] - to[axis] : to[axis] - from[axis];
        EXPECT_TRUE(difference <= 1 || (grid.wraps[axis] && difference == grid.extent[axis] - 1));
      }
    }
  }
  EXPECT_TRUE(std::all_of(ranks_in.begin(), ranks_in.end(), [](std::uint32_t count) { return count == 1; }));
  for (const auto& direction : grid.directions) bytes += direction.bytes;
  EXPECT_NEAR(bytes, graph.total_bytes(), 1e-9 * bytes);
}

/// The extents as text, periodic axes with a p, in ascending order.
std::vector<std::string> sides(const std::vector<std::uint32_t>& extent, const std::vector<bool>& wraps) {
  std::vector<std::string> texts;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    if (extent[axis] == 4 && wraps[axis]) {  // the same ring
      texts.insert(texts.end(), 2, "2");
    } else if (extent[axis] > 1) {
      texts.push_back(std::to_string(extent[axis]) + (wraps[axis] && extent[axis] > 2 ? "p" : ""));
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

void expect_recognised(const Stencil& stencil, const CommGraph& graph) {
  for (const auto& grid : {recognise_grid(Affinity(graph)), recognise_grid(graph)}) {
    ASSERT_TRUE(grid);
    EXPECT_TRUE(grid->exact);
    EXPECT_LE(grid->variation, stencil.noise);
    EXPECT_EQ(sides(grid->extent, grid->wraps), sides(stencil.extent, stencil.wraps));
    expect_correct(*grid, graph);
  }
}

std::vector<Stencil> grids_of_many_shapes() {
  std::vector<Stencil> stencils;
  const std::vector<std::vector<std::uint32_t>> shapes = {
      {2},        {9},        {64},      {2, 9},     {6, 35},    {3, 3},       {16, 16},    {3, 5, 7},
      {8, 8, 16}, {2, 2, 15}, {4, 5, 6}, {13, 2, 3}, {2, 3, 31}, {3, 4, 5, 6}, {2, 2, 2, 5}};
  for (const auto& extent : shapes) {
    stencils.push_back({.extent = extent});
    if (extent.size() > 1) {
      Stencil all_corners{.extent = extent};
      for (double bytes = 10; all_corners.across.size() + 1 < extent.size(); bytes /= 10) {
        all_corners.across.push_back(bytes);
      }
      stencils.push_back(all_corners);
    }
  }
  return stencils;
}

TEST(RecogniseGrid, FindsGridsInRowMajorOrder) {
  for (const Stencil& stencil : grids_of_many_shapes()) {
    SCOPED_TRACE(::testing::PrintToString(stencil.extent));
    const auto graph = stencil.graph();
    expect_recognised(stencil, graph);
    EXPECT_TRUE(recognise_grid(graph)->cell_of.empty());
  }
}

TEST(RecogniseGrid, FindsGridsInAnyOrder) {
  for (const Stencil& stencil : grids_of_many_shapes()) {
    SCOPED_TRACE(::testing::PrintToString(stencil.extent));
    for (const std::uint64_t seed : {1, 2, 3}) expect_recognised(stencil, shuffled(stencil.graph(), seed));
  }
}

TEST(RecogniseGrid, FindsPeriodicAxes) {
  for (const Stencil& open : grids_of_many_shapes()) {
    for (unsigned mask = 1; mask < 1U << open.extent.size(); ++mask) {
      Stencil stencil = open;
      for (std::size_t axis = 0; axis < open.extent.size(); ++axis) {
        stencil.wraps[axis] = (mask >> axis & 1) != 0 && open.extent[axis] > 2;
      }
      SCOPED_TRACE(::testing::PrintToString(stencil.extent) + ::testing::PrintToString(stencil.wraps));
      expect_recognised(stencil, stencil.graph());
      expect_recognised(stencil, shuffled(stencil.graph(), mask));
    }
  }
}

TEST(RecogniseGrid, SupportsDifferentBytesOnEachAxis) {
  const Stencil plane{.extent = {12, 17}, .along = {1000, 3}};
  expect_recognised(plane, shuffled(plane.graph(), 1));
  const Stencil space{.extent = {7, 6, 9}, .wraps = {true, false, false}, .along = {500, 40, 90}, .across = {10, 1}};
  expect_recognised(space, shuffled(space.graph(), 1));
  // Corners between the heavy axes have more bytes than edges along the light axis.
  Stencil flat{.extent = {7, 6, 9}, .along = {500, 500, 4}, .across = {10, 1}};
  expect_recognised(flat, shuffled(flat.graph(), 1));
  const auto grid = recognise_grid(plane.graph());
  ASSERT_EQ(grid->directions.size(), 2U);
  for (const auto& direction : grid->directions) {
    EXPECT_DOUBLE_EQ(direction.bytes, direction.step[0] != 0 ? 11 * 17 * 1000.0 : 12 * 16 * 3.0);
  }
}

TEST(RecogniseGrid, ToleratesNoiseInTheBytes) {
  const Stencil plane{.extent = {21, 14}, .across = {10}, .noise = 0.2};
  const Stencil space{.extent = {8, 9, 10}, .wraps = {false, true, false}, .across = {10, 1}, .noise = 0.2};
  for (const Stencil& stencil : {plane, space}) {
    expect_recognised(stencil, stencil.graph());
    expect_recognised(stencil, shuffled(stencil.graph(), 4));
    EXPECT_NEAR(recognise_grid(stencil.graph())->variation, 0.2 / std::sqrt(3), 0.02);
  }
}

TEST(RecogniseGrid, SupportsCornersWithAsManyBytesAsAxes) {
  const std::vector<std::vector<std::uint32_t>> shapes = {{3, 3}, {3, 4}, {9, 8}, {3, 5, 4}, {7, 6, 5}, {12, 3, 11}};
  for (const auto& extent : shapes) {
    SCOPED_TRACE(::testing::PrintToString(extent));
    const Stencil stencil{.extent = extent, .across = std::vector<double>(extent.size() - 1, 100)};
    expect_recognised(stencil, shuffled(stencil.graph(), 5));
  }
  const Stencil torus{.extent = {7, 6, 5}, .wraps = {true, false, true}, .across = {100, 100}};
  expect_recognised(torus, shuffled(torus.graph(), 5));
}

TEST(RecogniseGrid, PrefersTheNumberingThatExplainsTheBytes) {
  // All pairs have an edge: any numbering fits the edges, but only one fits their bytes.
  const Stencil stencil{.extent = {3, 3, 3}, .wraps = {true, true, true}, .across = {10, 1}};
  const auto grid = recognise_grid(shuffled(stencil.graph(), 6));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->variation, 0);
}

CommGraph with_edge(const CommGraph& graph, Rank from, Rank to) {
  CommGraphBuilder builder(graph.rank_count());
  builder.add(from, to, 100);
  return sum(graph, std::move(builder).build(false, true));
}

TEST(RecogniseGrid, ToleratesFewIrregularEdgesInRowMajorOrder) {
  const auto graph = with_edge(Stencil{.extent = {40, 30}}.graph(), Rank{5}, Rank{777});
  const auto grid = recognise_grid(graph);
  ASSERT_TRUE(grid);
  EXPECT_FALSE(grid->exact);
  EXPECT_EQ(grid->extent, (std::vector<std::uint32_t>{40, 30}));
}

TEST(RecogniseGrid, RejectsAGraphWithAnIrregularEdgeOrIsCorrect) {
  for (std::uint32_t other = 20; other < 119; ++other) {
    const auto graph = shuffled(with_edge(Stencil{.extent = {12, 10}}.graph(), Rank{0}, Rank{other}), other);
    const auto grid = recognise_grid(graph);
    if (!grid) continue;
    EXPECT_FALSE(grid->exact);
    EXPECT_EQ(sides(grid->extent, grid->wraps), (std::vector<std::string>{"10", "12"}));
  }
}

/// Ranks whose numbers differ in one bit exchange 10 bytes.
CommGraphBuilder hypercube(std::uint32_t ranks) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t bit = 1; bit < ranks; bit *= 2) builder.add(Rank{rank}, Rank{rank ^ bit}, 10);
  }
  return builder;
}

TEST(RecogniseGrid, SeesNoStencilInAStarWhoseEdgesAreCornersOfAHypercube) {
  auto builder = hypercube(64);
  for (std::uint32_t rank = 3; rank < 64; ++rank) {
    if ((rank & (rank - 1)) == 0) continue;
    builder.add(Rank{0}, Rank{rank}, 10);
    builder.add(Rank{rank}, Rank{0}, 10);
  }
  const auto grid = recognise_grid(std::move(builder).build(false));
  ASSERT_TRUE(grid);  // every cell of 2x2x2x2x2x2 is adjacent to every other
  EXPECT_EQ(grid->variation, 0);
  EXPECT_FALSE(grid->stencil);
  EXPECT_FALSE(grid->regular);
}

TEST(RecogniseGrid, SeesNoStencilIfCornersCarryMoreThanFaces) {
  for (const double corner : {5.0, 10.0, 20.0}) {
    const auto grid = recognise_grid(Stencil{.extent = {6, 8}, .along = {10, 10}, .across = {corner}}.graph());
    ASSERT_TRUE(grid) << corner;
    EXPECT_TRUE(grid->has_corner_edges());
    EXPECT_EQ(grid->stencil, corner <= 10) << corner;
    EXPECT_EQ(grid->regular, corner <= 10) << corner;
  }
}

TEST(RecogniseGrid, IsRegularIfAllEdgesOfADirectionAreAlike) {
  for (const double noise : {0.0, 0.1}) {
    const auto grid = recognise_grid(Stencil{.extent = {6, 8}, .along = {10, 30}, .noise = noise}.graph());
    ASSERT_TRUE(grid);
    EXPECT_FALSE(grid->has_corner_edges());
    EXPECT_TRUE(grid->stencil);
    EXPECT_EQ(grid->regular, noise == 0) << noise;
  }
}

TEST(RecogniseGrid, RejectsOtherGraphs) {
  EXPECT_FALSE(recognise_grid(CommGraph()));
  EXPECT_FALSE(recognise_grid(std::move(CommGraphBuilder(1)).build(false)));
  EXPECT_FALSE(recognise_grid(std::move(CommGraphBuilder(50)).build(false)));
  EXPECT_FALSE(recognise_grid(testing::shuffled_groups(8, 8, 1)));
  for (const double density : {0.02, 0.1, 0.5}) {
    EXPECT_FALSE(recognise_grid(Affinity(testing::random_graph(200, density, 1, true)))) << density;
  }
  CommGraphBuilder star(50), tree(63), two_rings(40), ladder(60);
  for (std::uint32_t rank = 1; rank < 50; ++rank) star.add(Rank{0}, Rank{rank}, 1);
  for (std::uint32_t rank = 1; rank < 63; ++rank) tree.add(Rank{rank}, Rank{(rank - 1) / 2}, 1);
  for (std::uint32_t rank = 0; rank < 40; ++rank) two_rings.add(Rank{rank}, Rank{rank / 20 * 20 + (rank + 1) % 20}, 1);
  // A Möbius band: locally a grid everywhere.
  for (std::uint32_t rank = 0; rank < 60; ++rank) ladder.add(Rank{rank}, Rank{(rank + 1) % 60}, 1);
  for (std::uint32_t rank = 0; rank < 30; ++rank) ladder.add(Rank{rank}, Rank{rank + 30}, 1);
  for (auto* builder : {&star, &tree, &two_rings, &ladder}) {
    const auto graph = std::move(*builder).build(false, true);
    EXPECT_FALSE(recognise_grid(graph));
    EXPECT_FALSE(recognise_grid(shuffled(graph, 1)));
  }
}

TEST(RecogniseGrid, FindsGridsOfDirectedTrafficInTheAffinity) {
  CommGraphBuilder builder(48);
  for (std::uint32_t rank = 0; rank < 48; ++rank) {
    if (rank % 8 != 7) builder.add(Rank{rank}, Rank{rank + 1}, 10);
    if (rank < 40) builder.add(Rank{rank}, Rank{rank + 8}, 10);
    builder.add(Rank{rank}, Rank{rank}, 1000);
  }
  const auto graph = std::move(builder).build(true);
  EXPECT_FALSE(recognise_grid(graph));
  const auto grid = recognise_grid(Affinity(graph));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->extent, (std::vector<std::uint32_t>{6, 8}));
}

TEST(RecogniseGrid, IsTheSameForAnyNumberOfThreads) {
  const auto graph = Stencil{.extent = {60, 50, 12}, .across = {10, 1}, .noise = 0.1}.graph();
  const ThreadLimit one(1);
  const auto alone = recognise_grid(graph);
  const ThreadLimit four(4);
  const auto together = recognise_grid(graph);
  ASSERT_TRUE(alone && together);
  for (std::size_t at = 0; at < alone->directions.size(); ++at) {
    EXPECT_EQ(alone->directions[at].bytes, together->directions[at].bytes);
  }
}

TEST(IsUniformAllToAll, NeedsTheSameBytesBetweenAllPairs) {
  const auto build = [](std::uint32_t ranks, double last) {
    CommGraphBuilder builder(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from != to) builder.add(Rank{from}, Rank{to}, from + 1 == ranks && to + 2 == ranks ? last : 8);
      }
    }
    return std::move(builder).build(true);
  };
  EXPECT_TRUE(is_uniform_all_to_all(build(20, 8)));
  EXPECT_FALSE(is_uniform_all_to_all(build(20, 9)));
  EXPECT_FALSE(is_uniform_all_to_all(Stencil{.extent = {4, 5}}.graph()));
  EXPECT_FALSE(is_uniform_all_to_all(CommGraph()));
}

}  // namespace
}  // namespace rankloom
