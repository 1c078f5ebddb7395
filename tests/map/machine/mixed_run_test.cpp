// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/machine/mixed_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/model/machine/slots/mixed_slots.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;
using testing::topology;

SlotShapes shapes_of(const char* cores) {
  return SlotShapes::combine({RankNumbers::parse(cores, 64)}, {});
}

/// Every wide rank sends to the narrow ranks that read its results.
CommGraph coupled(std::uint32_t wide, std::uint32_t narrow_each) {
  CommGraphBuilder builder(wide * (1 + narrow_each));
  for (std::uint32_t rank = 0; rank < wide; ++rank) {
    // The readers of a rank are far apart in the order of ranks.
    for (std::uint32_t i = 0; i < narrow_each; ++i) builder.add(Rank{rank}, Rank{wide + i * wide + rank}, 1000);
    builder.add(Rank{rank}, Rank{(rank + 1) % wide}, 10);
  }
  return std::move(builder).build(false);
}

TEST(MixedRun, CoupledProgramsShareNodes) {
  const auto problem =
      make_problem(coupled(8, 4), topology("node:8=10 core:8=1"), CostModel::bytes, {.shapes = shapes_of("8x4,32x1")});
  const auto result = run_mapper(testing::mapper("auto"), problem.view(), MapRun{});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_LT(result->cost, 0.2 * result->cost_default);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(problem.topology.node_of(result->mapping[Rank{8 + i * 8 + rank}]),
                problem.topology.node_of(result->mapping[Rank{rank}]));
    }
  }
}

TEST(MixedRun, EveryMapperIsValidAndNotWorseThanTheDefault) {
  Random random(5);
  for (int trial = 0; trial < 12; ++trial) {
    const std::uint32_t wide = 1 + static_cast<std::uint32_t>(random.below(4));
    const std::uint32_t narrow = 2 + static_cast<std::uint32_t>(random.below(12));
    const auto problem = make_problem(testing::random_graph(wide + narrow, 0.4, 10 + trial),
                                      topology(trial % 2 == 0 ? "node:4=10 numa:2=3 core:6=1" : "torus:2x2 core:10=1"),
                                      CostModel::bytes, {.shapes = shapes_of(fmt::format("{}x3", wide).c_str())});
    for (const MapperInfo& row : mappers()) {
      SCOPED_TRACE(fmt::format("{} with {} wide and {} narrow ranks", row.name, wide, narrow));
      const auto result = run_mapper(testing::mapper(row.name), problem.view(), MapRun{});
      if (!result) continue;  // a mapper that this build does not have, or that balances loads
      const MixedSlots slots(problem.topology, *problem.capacities.mixed_shapes(), wide + narrow);
      EXPECT_TRUE(slots.check(result->mapping.cores(), "test"));
      EXPECT_DOUBLE_EQ(result->cost, problem.cost(result->mapping.cores()));
      if (!row.baseline) {
        EXPECT_LE(result->cost, result->cost_default);
      }
      EXPECT_FALSE(result->lower_bound);
      EXPECT_EQ(result->note, "") << "a proof for equal slots is none for these";
    }
  }
}

TEST(MixedRun, StartsFromAMapping) {
  auto problem = make_problem(testing::random_graph(6, 0.6, 3), topology("node:3=10 core:4=1"), CostModel::bytes,
                              {.shapes = shapes_of("2x3,4x1")});
  problem.start = MixedSlots(problem.topology, *problem.capacities.mixed_shapes(), 6).layouts().back();
  const auto result = run_mapper(testing::mapper("refine"), problem.view(), MapRun{});
  ASSERT_TRUE(result);
  EXPECT_LE(result->cost, problem.cost(problem.start));
  EXPECT_TRUE(result->moved);
  MapProblem with_migration = problem.view();
  with_migration.migration_cost = 1;
  EXPECT_THAT(to_string(run_mapper(testing::mapper("refine"), with_migration, MapRun{}).error()),
              HasSubstr("--migration-cost"));
}

TEST(MixedRun, RanksThatDoNotFitAreRefused) {
  const auto capacities = Capacities::of(topology("node:2 core:4"), 4, {.shapes = shapes_of("3x3,1x1")});
  ASSERT_FALSE(capacities);
  EXPECT_THAT(capacities.error().what, HasSubstr("do not fit"));
  EXPECT_FALSE(Capacities::of(topology("node:2 core:4"), 2, {.shapes = shapes_of("3x3")})) << "names too many ranks";
}

}  // namespace
}  // namespace rankloom
