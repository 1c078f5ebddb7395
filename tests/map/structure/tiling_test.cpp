// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/tiling.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::shuffled;
using testing::Stencil;
using testing::topology;

Topology hierarchy(std::string_view arities, std::string_view distances) {
  return testing::built(*parse_hierarchy(arities, distances));
}

/// The tiling of what is recognised; checked for being a mapping at all.
std::vector<Core> tiled(const OwnedProblem& problem) {
  const auto grid = recognised_grid(problem.graph);
  EXPECT_TRUE(grid);
  auto placement = grid ? tiled_placement(problem.view(), *grid) : std::nullopt;
  EXPECT_TRUE(placement);
  if (!placement) return {};
  EXPECT_TRUE(Mapping::checked(*placement, problem.topology, problem.capacities));
  return *std::move(placement);
}

double tiled_cost(const OwnedProblem& problem) {
  return problem.cost(tiled(problem));
}

double block_cost(const OwnedProblem& problem) {
  return problem.cost(block_placement(problem.graph.rank_count(), problem.topology, problem.capacities));
}

/// The least cost of all ways to cut a grid in its own order into equal boxes, level by level, each one evaluated.
class EveryEvenTiling {
 public:
  EveryEvenTiling(const OwnedProblem& problem, std::vector<std::uint32_t> extent, std::vector<std::uint32_t> arities)
      : problem_(problem), extent_(std::move(extent)), arities_(std::move(arities)) {
    go_on(0, std::vector<std::uint32_t>(extent_.size(), 1));
  }
  double least = std::numeric_limits<double>::infinity();

 private:
  /// Arities bottom up; boxes_ are those of the levels chosen.
  void go_on(std::size_t level, const std::vector<std::uint32_t>& box) {
    if (level == arities_.size()) {
      least = std::min(least, problem_.cost(placement()));
      return;
    }
    choose(level, arities_[level], 0, box, box);
  }

  void choose(std::size_t level, std::uint32_t left, std::size_t axis, const std::vector<std::uint32_t>& below,
              std::vector<std::uint32_t> box) {
    if (axis == extent_.size()) {
      if (left != 1) return;
      boxes_.push_back({below, box});
      go_on(level + 1, box);
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

TEST(TiledPlacement, CostsNoMoreThanTheBestEvenBoxes) {
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
    const auto natural = make_problem(stencil.graph(), topology(machine));
    const double least = EveryEvenTiling(natural, stencil.extent, arities).least;
    const double cost = tiled_cost(natural);
    EXPECT_LE(cost, least * (1 + 1e-12));
    EXPECT_GE(cost, 0.9 * least);  // uneven boxes may be better, but not by much
    const auto mixed = make_problem(shuffled(stencil.graph(), 3), topology(machine));
    EXPECT_LE(tiled_cost(mixed), least * (1 + 1e-12));
  }
}

TEST(TiledPlacement, ReachesTheRegularTilingOfLargeGrids) {
  struct Case {
    std::vector<std::uint32_t> extent;
    std::string_view machine;
    double best;
  };
  // The best that public mappers reach, or lower: the grids of 1,024 to 16,384 ranks by which they are compared.
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

TEST(TiledPlacement, PutsFewRanksOnAPartOfTheMachine) {
  const Stencil stencil{.extent = {16, 24}, .along = {10, 10}};
  EXPECT_LE(tiled_cost(make_problem(shuffled(stencil.graph(), 1), hierarchy("16:12:4", "10:37:41"))), 114480);
}

TEST(TiledPlacement, CutsUnevenBoxesWhereSidesDoNotDivide) {
  struct Case {
    std::vector<std::uint32_t> extent;
    std::string_view machine;
    double share;  ///< Of the block placement's cost, of ranks in their own order.
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
    const auto natural = make_problem(stencil.graph(), topology(machine));
    const auto mixed = make_problem(shuffled(stencil.graph(), 2), topology(machine));
    EXPECT_LE(tiled_cost(natural), share * block_cost(natural));
    EXPECT_LE(tiled_cost(mixed), share * block_cost(natural));
  }
}

TEST(TiledPlacement, PrefersUnevenBoxesToThinOnes) {
  // Evenly, a node of 6 cores can only be a column of 6 x 1.
  const auto problem = make_problem(Stencil{.extent = {6, 35}}.graph(), topology("node:35=100 package:3=10 core:2=1"));
  const EveryEvenTiling even(problem, {6, 35}, {2, 3, 35});
  EXPECT_LT(tiled_cost(problem), 0.75 * even.least);
}

TEST(TiledPlacement, IsValidOnEveryMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    SCOPED_TRACE(name);
    std::uint32_t places = 0;
    for (const Core core : machine.cores()) places += machine.capacity(core);
    for (std::uint32_t ranks = 2; ranks <= places; ++ranks) {
      for (const std::uint32_t side : {1, 2, 3, 4}) {
        if (ranks % side != 0) continue;
        const Stencil stencil{.extent = {side, ranks / side}};
        for (const CostModel model : {CostModel::bytes, CostModel::time, CostModel::quality, CostModel::congestion}) {
          tiled(make_problem(shuffled(stencil.graph(), ranks), machine, model));
        }
      }
    }
  }
}

TEST(TiledPlacement, SharesCoresEvenly) {
  const auto problem = make_problem(shuffled(Stencil{.extent = {10, 12}}.graph(), 1), topology("node:4=10 core:8=1"),
                                    CostModel::bytes, {.oversubscribe = true, .imbalance = 0.1});
  std::vector<std::uint32_t> taken(32, 0);
  for (const Core core : tiled(problem)) ++taken[index(core)];
  for (const std::uint32_t count : taken) EXPECT_TRUE(count == 3 || count == 4);
  EXPECT_LT(tiled_cost(problem), 0.3 * block_cost(problem));
}

TEST(TiledPlacement, KeepsNeighboursNearOnAMesh) {
  const auto graph = shuffled(Stencil{.extent = {16, 16}}.graph(), 1);
  for (const std::string_view machine : {"mesh:8x8=5 core:4=1", "torus:8x8=5 core:4=1"}) {
    const auto problem = make_problem(graph, topology(machine));
    EXPECT_LT(tiled_cost(problem), 0.25 * block_cost(problem)) << machine;
  }
}

TEST(TiledPlacement, NeedsAGridOfAllRanks) {
  const auto problem = make_problem(Stencil{.extent = {4, 4}}.graph(), topology("node:4=10 core:4=1"));
  const auto other = recognised_grid(Stencil{.extent = {4, 5}}.graph());
  EXPECT_FALSE(tiled_placement(problem.view(), *other));
  EXPECT_FALSE(tiled_placement(problem.view(), Grid{}));
}

TEST(TiledPlacement, IsTheSameForAnyNumberOfThreads) {
  const auto problem =
      make_problem(shuffled(Stencil{.extent = {90, 110}}.graph(), 1), topology("switch:11=100 node:9=10 core:101=1"));
  const ThreadLimit one(1);
  const auto alone = tiled(problem);
  const ThreadLimit four(4);
  EXPECT_EQ(alone, tiled(problem));
}

}  // namespace
}  // namespace rankloom
