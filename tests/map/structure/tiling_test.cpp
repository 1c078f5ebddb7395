// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/tiling/tiling.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "rankloom/map/structure/tiling/boxes.hpp"
#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"

namespace rankloom {
namespace {

using testing::block_cost;
using testing::make_problem;
using testing::OwnedProblem;
using testing::shuffled;
using testing::Stencil;
using testing::topology;

Topology hierarchy(std::string_view arities, std::string_view distances) {
  return testing::built(*parse_hierarchy(arities, distances));
}

/// The tiling of the recognised grid; checks that it is a valid mapping.
std::vector<Core> tile(const OwnedProblem& problem) {
  const auto grid = recognise_grid(problem.graph);
  EXPECT_TRUE(grid);
  auto placement = grid ? tiled_placement(problem.view(), *grid) : std::nullopt;
  EXPECT_TRUE(placement);
  if (!placement) return {};
  EXPECT_TRUE(Mapping::create(*placement, problem.topology, problem.capacities));
  return *std::move(placement);
}

double tiled_cost(const OwnedProblem& problem) {
  return problem.cost(tile(problem));
}

/// The minimum cost of all hierarchies of equal boxes, by exhaustive search. The grid is in row-major order.
class EveryEvenTiling {
 public:
  EveryEvenTiling(const OwnedProblem& problem, std::vector<std::uint32_t> extent, std::vector<std::uint32_t> arities)
      : problem_(problem), extent_(std::move(extent)), arities_(std::move(arities)) {
    choose_level(0, std::vector<std::uint32_t>(extent_.size(), 1));
  }
  double min_cost = std::numeric_limits<double>::infinity();

 private:
  /// Arities bottom up; boxes_ contains the boxes of the lower levels.
  void choose_level(std::size_t level, const std::vector<std::uint32_t>& box) {
    if (level == arities_.size()) {
      min_cost = std::min(min_cost, problem_.cost(placement()));
      return;
    }
    choose(level, arities_[level], 0, box, box);
  }

  void choose(std::size_t level, std::uint32_t left, std::size_t axis, const std::vector<std::uint32_t>& below,
              std::vector<std::uint32_t> box) {
    if (axis == extent_.size()) {
      if (left != 1) return;
      boxes_.push_back({below, box});
      choose_level(level + 1, box);
      boxes_.pop_back();
      return;
    }
    for (std::uint32_t factor = 1; factor <= left; ++factor) {
      if (left % factor != 0 || extent_[axis] % (below[axis] * factor) != 0) continue;
      box[axis] = below[axis] * factor;
      choose(level, left / factor, axis + 1, below, box);
    }
  }

  std::vector<Core> placement() const {
    std::vector<Core> core_of;
    for (std::uint32_t rank = 0; rank < problem_.graph.rank_count(); ++rank) {
      std::uint32_t core = 0, width = 1;
      for (const auto& [below, box] : boxes_) {
        std::uint32_t cell = rank, object = 0, step = 1;
        for (std::size_t axis = extent_.size(); axis-- > 0; cell /= extent_[axis]) {
          object += cell % extent_[axis] % box[axis] / below[axis] * step;
          step *= box[axis] / below[axis];
        }
        core += object * width;
        width *= step;
      }
      core_of.push_back(Core{core});
    }
    return core_of;
  }

  const OwnedProblem& problem_;
  std::vector<std::uint32_t> extent_, arities_;
  std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> boxes_;
};

TEST(TiledPlacement, CostsNoMoreThanTheBestEqualBoxes) {
  struct Case {
    Stencil stencil;
    std::vector<std::uint32_t> arities;
    std::string_view machine;
  };
  const std::vector<Case> cases = {
      {{.extent = {8, 8}}, {4, 4, 4}, "switch:4=100 node:4=10 core:4=1"},
      {{.extent = {6, 12}}, {3, 4, 6}, "switch:6=50 node:4=10 core:3=1"},
      {{.extent = {6, 12}, .wraps = {true, true}}, {3, 4, 6}, "switch:6=50 node:4=10 core:3=1"},
      {{.extent = {6, 12}, .along = {10, 300}}, {3, 4, 6}, "switch:6=50 node:4=10 core:3=1"},
      {{.extent = {8, 16}, .wraps = {false, true}, .across = {30}}, {4, 8, 4}, "switch:4=30 node:8=10 core:4=1"},
      {{.extent = {4, 4, 4}, .across = {10, 1}}, {2, 4, 8}, "switch:8=100 node:4=10 core:2=1"},
      {{.extent = {6, 4, 10}, .wraps = {true, false, true}, .along = {20, 100, 50}, .across = {10, 1}},
       {4, 6, 10},
       "switch:10=40 node:6=10 core:4=1"},
      {{.extent = {2, 4, 3, 8}}, {2, 2, 6, 8}, "rack:8=90 switch:6=40 node:2=10 core:2=1"},
      {{.extent = {60}}, {4, 5, 3}, "switch:3=100 node:5=10 core:4=1"},
  };
  for (const auto& [stencil, arities, machine] : cases) {
    SCOPED_TRACE(::testing::PrintToString(stencil.extent));
    const auto row_major = make_problem(stencil.graph(), topology(machine));
    const double min_cost = EveryEvenTiling(row_major, stencil.extent, arities).min_cost;
    const double cost = tiled_cost(row_major);
    EXPECT_LE(cost, min_cost * (1 + 1e-12));
    EXPECT_GE(cost, 0.9 * min_cost);  // uneven boxes can be better, but not by much
    const auto shuffled_ranks = make_problem(shuffled(stencil.graph(), 3), topology(machine));
    EXPECT_LE(tiled_cost(shuffled_ranks), min_cost * (1 + 1e-12));
  }
}

TEST(TiledPlacement, ReachesTheBestKnownTilingOfLargeGrids) {
  struct Case {
    std::vector<std::uint32_t> extent;
    std::string_view machine;
    double best;
  };
  // The best results of public mappers, or lower, on the grids of 1,024 to 16,384 ranks that are used to compare them.
  const std::vector<Case> cases = {{{32, 32}, "4:8:32", 394240},
                                   {{64, 64}, "4:8:128", 1704960},
                                   {{128, 128}, "4:8:512", 7075840},
                                   {{8, 8, 16}, "4:8:32", 10819440},
                                   {{16, 16, 16}, "4:8:128", 50459760}};
  for (const auto& [extent, machine, best] : cases) {
    Stencil stencil{.extent = extent};
    if (extent.size() == 2) stencil.along = {10, 10};
    if (extent.size() == 3) stencil.across = {10, 1};
    EXPECT_LE(tiled_cost(make_problem(stencil.graph(), hierarchy(machine, "1:10:100"))), best);
    EXPECT_LE(tiled_cost(make_problem(shuffled(stencil.graph(), 9), hierarchy(machine, "1:10:100"))), best);
  }
}

TEST(TiledPlacement, PlacesFewRanksOnAPartOfTheMachine) {
  const Stencil stencil{.extent = {16, 24}, .along = {10, 10}};
  EXPECT_LE(tiled_cost(make_problem(shuffled(stencil.graph(), 1), hierarchy("16:12:4", "10:37:41"))), 114480);
}

TEST(TiledPlacement, CutsUnevenBoxesIfSidesAreNotDivisible) {
  struct Case {
    std::vector<std::uint32_t> extent;
    std::string_view machine;
    double share;  ///< Of the cost of the block placement in row-major order.
  };
  const std::vector<Case> cases = {
      {{20, 20}, "node:13=100 package:8=10 core:4=1", 0.6},
      {{35, 6}, "node:7=100 package:8=10 core:4=1", 0.95},
      {{31, 37}, "node:36=100 package:8=10 core:4=1", 0.4},
      {{24, 24}, "node:6=100 core:96=1", 0.8},
      {{13, 17, 5}, "node:37=100 package:8=10 core:4=1", 0.8},
      {{40, 30}, "node:5=100 core:200+300+250+225+225=1", 0.8},
      {{30, 30}, "switch:2=9 node:9=3 core:60=1 !node:3,16-17", 0.9},
      {{18, 20}, "node:7=10 core:60=1 !core:3,77-79,200", 0.8},
  };
  for (const auto& [extent, machine, share] : cases) {
    SCOPED_TRACE(machine);
    const Stencil stencil{.extent = extent};
    const auto row_major = make_problem(stencil.graph(), topology(machine));
    const auto shuffled_ranks = make_problem(shuffled(stencil.graph(), 2), topology(machine));
    EXPECT_LE(tiled_cost(row_major), share * block_cost(row_major));
    EXPECT_LE(tiled_cost(shuffled_ranks), share * block_cost(row_major));
  }
}

TEST(TiledPlacement, PrefersUnevenBoxesToThinOnes) {
  // With equal boxes, a node of 6 cores can only be a column of 6 x 1.
  const auto problem = make_problem(Stencil{.extent = {6, 35}}.graph(), topology("node:35=100 package:3=10 core:2=1"));
  const EveryEvenTiling even(problem, {6, 35}, {2, 3, 35});
  EXPECT_LT(tiled_cost(problem), 0.75 * even.min_cost);
}

TEST(TiledPlacement, IsValidOnEveryMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    SCOPED_TRACE(name);
    std::uint32_t slots = 0;
    for (const Core core : machine.cores()) slots += machine.capacity(core);
    for (std::uint32_t ranks = 2; ranks <= slots; ++ranks) {
      for (const std::uint32_t side : {1, 2, 3, 4}) {
        if (ranks % side != 0) continue;
        const Stencil stencil{.extent = {side, ranks / side}};
        for (const CostModel model : {CostModel::bytes, CostModel::time, CostModel::quality, CostModel::congestion}) {
          tile(make_problem(shuffled(stencil.graph(), ranks), machine, model));
        }
      }
    }
  }
}

TEST(TiledPlacement, DistributesRanksEvenlyOverSharedCores) {
  const auto problem = make_problem(shuffled(Stencil{.extent = {10, 12}}.graph(), 1), topology("node:4=10 core:8=1"),
                                    CostModel::bytes, {.oversubscribe = true, .imbalance = 0.1});
  std::vector<std::uint32_t> taken(32, 0);
  for (const Core core : tile(problem)) ++taken[index(core)];
  for (const std::uint32_t count : taken) EXPECT_TRUE(count == 3 || count == 4);
  EXPECT_LT(tiled_cost(problem), 0.3 * block_cost(problem));
}

TEST(TiledPlacement, PlacesNeighboursOnCloseNodesOfAMesh) {
  const auto graph = shuffled(Stencil{.extent = {16, 16}}.graph(), 1);
  for (const std::string_view machine : {"mesh:8x8=5 core:4=1", "torus:8x8=5 core:4=1"}) {
    const auto problem = make_problem(graph, topology(machine));
    EXPECT_LT(tiled_cost(problem), 0.25 * block_cost(problem)) << machine;
  }
}

TEST(TiledPlacement, NeedsAGridOfAllRanks) {
  const auto problem = make_problem(Stencil{.extent = {4, 4}}.graph(), topology("node:4=10 core:4=1"));
  const auto other = recognise_grid(Stencil{.extent = {4, 5}}.graph());
  EXPECT_FALSE(tiled_placement(problem.view(), *other));
  EXPECT_FALSE(tiled_placement(problem.view(), Grid{}));
}

TEST(TiledPlacement, IsTheSameForAnyNumberOfThreads) {
  const auto problem =
      make_problem(shuffled(Stencil{.extent = {90, 110}}.graph(), 1), topology("switch:11=100 node:9=10 core:101=1"));
  const ThreadLimit one(1);
  const auto alone = tile(problem);
  const ThreadLimit four(4);
  EXPECT_EQ(alone, tile(problem));
}

TEST(BoundaryTraffic, TheLeastIsThatOfTheMostCubicBoxes) {
  const Stencil cube{.extent = {8, 8, 8}};
  const BoundaryTraffic equal(*recognise_grid(cube.graph()));
  EXPECT_NEAR(equal.min_crossing_bytes(8), equal.crossing_bytes(Box{2, 2, 2, 1, 1, 1}), 1e-6);
  EXPECT_LT(equal.min_crossing_bytes(10), 0.9 * equal.crossing_bytes(Box{5, 2, 1, 1, 1, 1}));
  // Boxes are long on an axis with much traffic: four times the bytes, four times the length.
  const Stencil heavy{.extent = {16, 16}, .along = {400, 100}};
  const BoundaryTraffic long_boxes(*recognise_grid(heavy.graph()));
  EXPECT_NEAR(long_boxes.min_crossing_bytes(16), long_boxes.crossing_bytes(Box{8, 2, 1, 1, 1, 1}), 1);
  EXPECT_EQ(long_boxes.min_crossing_bytes(256), 0);
}

}  // namespace
}  // namespace rankloom
