// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/link_load_search.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::random_graph;
using testing::topology;

std::vector<Core> reduced(const OwnedProblem& problem, const std::vector<Core>& start, std::uint64_t trials) {
  const MapRun run;
  StopCondition stop_condition(run, "test");
  return reduce_link_loads(problem.view(), start, trials, 1, stop_condition);
}

TEST(ReduceLinkLoads, NeverRaisesTheLargestLoad) {
  for (const char* const machine : {"torus:4x4=1", "mesh:8x2=1", "torus:2x4=3 core:4=1", "dragonfly:2,2,2=3 core:3=1",
                                    "fattree:2,4/1,2=3 core:3=1"}) {
    for (const std::uint32_t ranks : {12U, 16U}) {
      SCOPED_TRACE(machine);
      const auto problem = make_problem(random_graph(ranks, 0.3, 4), topology(machine), CostModel::congestion);
      for (const std::uint64_t seed : {1, 2, 3}) {
        const auto start = testing::random_placement(ranks, problem.topology, problem.capacities, seed);
        const auto core_of = reduced(problem, start, 2000);
        EXPECT_TRUE(Mapping::create(core_of, problem.topology, problem.capacities));
        EXPECT_LE(problem.cost(core_of), problem.cost(start));
      }
    }
  }
}

TEST(ReduceLinkLoads, SeparatesPairsThatShareALink) {
  // Four pairs, each of which can be on adjacent nodes of the ring.
  CommGraphBuilder builder(8);
  for (std::uint32_t rank = 0; rank < 4; ++rank) builder.add(Rank{rank}, Rank{rank + 4}, 100);
  const auto problem = make_problem(std::move(builder).build(false), topology("torus:8=1"), CostModel::congestion);
  const auto block = block_placement(8, problem.topology, problem.capacities);
  EXPECT_GT(problem.cost(block), 100);
  EXPECT_DOUBLE_EQ(problem.cost(reduced(problem, block, 4000)), 100);
}

TEST(ReduceLinkLoads, ReturnsTheStartOnATree) {
  const auto problem = make_problem(random_graph(8, 0.5, 1), topology("node:2=10 core:4=1"));
  const auto start = testing::random_placement(8, problem.topology, problem.capacities, 1);
  EXPECT_EQ(reduced(problem, start, 100), start);
}

}  // namespace
}  // namespace rankloom
