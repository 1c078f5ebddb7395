// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/clustering.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::block_cost;
using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::topology;

/// The cluster of Wang 2015, 5.1.
constexpr const char* papers_cluster = "switch:2=4.1 node:6=3.7 core:16=1";

std::vector<OwnedProblem> measured_programs() {
  std::vector<OwnedProblem> problems;
  for (const auto& [name, ranks] : {std::pair("sp.A.144", 144U),
                                    {"cg.A.128", 128U},
                                    {"bt.A.64", 64U},
                                    {"lu.A.64", 64U},
                                    {"openfoam.cavity3d.64", 64U},
                                    {"lammps.lj.32", 32U}}) {
    problems.push_back(make_problem(testing::measured(name, ranks), topology(papers_cluster)));
  }
  return problems;
}

double cost_relative_to_block(const OwnedProblem& problem) {
  return problem.cost(place_with("clustering", problem).core_of) / block_cost(problem);
}

TEST(Clustering, NeverCostsMoreThanTheBlockPlacementOnMeasuredPrograms) {
  for (const OwnedProblem& problem : measured_programs()) {
    EXPECT_LE(problem.cost(place_with("clustering", problem).core_of), block_cost(problem));
  }
}

TEST(Clustering, ReducesTheCostOfSpAndLuButNotOfCg) {
  const auto programs = measured_programs();
  EXPECT_LT(cost_relative_to_block(programs[0]), 0.80);
  EXPECT_EQ(cost_relative_to_block(programs[1]), 1.0);
  EXPECT_LT(cost_relative_to_block(programs[3]), 0.90);
}

TEST(Clustering, WithAutoCostsNoMoreThanTheBlockPlacementOrThePapersNumberOfClusters) {
  std::uint32_t seed = 0;
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem =
          make_problem(testing::random_graph(10 + seed % 5, 0.3, seed), machine, model.model, {.oversubscribe = true});
      const double cost = problem.cost(place_with("clustering:tries=50", problem, seed).core_of);
      EXPECT_LE(cost, block_cost(problem));
      EXPECT_LE(cost, problem.cost(place_with("clustering:tries=50,clusters=paper", problem, seed).core_of));
      EXPECT_LE(problem.cost(place_with("clustering:refine=none,scheme=ff", problem, seed).core_of),
                block_cost(problem));
      ++seed;
    }
  }
  for (const OwnedProblem& problem : measured_programs()) {
    EXPECT_LE(problem.cost(place_with("clustering", problem).core_of),
              problem.cost(place_with("clustering:clusters=paper", problem).core_of));
  }
}

TEST(Clustering, WithAutoAndPairExchangeCostsNoMoreThanPe500k) {
  auto shared = make_problem(testing::random_graph(20, 0.3, 1), topology("node:3=10 core:4=1"), CostModel::bytes,
                             {.oversubscribe = true});
  auto few = make_problem(testing::random_graph(9, 0.4, 2), topology("node:3=10 core:2+7+4=1"));
  auto timed = make_problem(testing::measured("lu.A.64", 64), topology(papers_cluster), CostModel::time);
  for (const OwnedProblem* const problem : {&shared, &few, &timed}) {
    for (const std::uint64_t seed : {0, 3}) {
      EXPECT_LE(problem->cost(place_with("clustering:refine=pe", *problem, seed).core_of),
                problem->cost(place_with("pe-500k", *problem, seed).core_of));
    }
  }
}

TEST(Clustering, WithOneClusterPerRankAndPairExchangeEqualsPe500k) {
  const auto problem = make_problem(testing::random_graph(20, 0.3, 1), topology("node:3=10 core:8=1"));
  EXPECT_EQ(place_with("clustering:clusters=20,refine=pe", problem, 5).core_of,
            place_with("pe-500k", problem, 5).core_of);
}

TEST(Clustering, PlacesEveryGroupOnOneNode) {
  const auto problem = make_problem(testing::shuffled_groups(6, 8, 1), topology("switch:2=20 node:3=10 core:8=1"));
  const auto core_of = place_with("clustering:clusters=6", problem).core_of;
  EXPECT_EQ(problem.cost(core_of), problem.graph.total_bytes());
}

TEST(Clustering, RejectsAWrongNumberOfClustersWithAHint) {
  const auto problem = make_problem(testing::random_graph(6, 0.5, 1), topology("node:2=10 core:4=1"));
  for (const char* wrong : {"0", "-1", "many", "3x", ""}) {
    const auto placed =
        testing::mapper(std::string("clustering:clusters=") + wrong).mapper->place(problem.view(), MapRun{});
    ASSERT_FALSE(placed) << wrong;
    EXPECT_EQ(placed.error().code, Code::usage);
    EXPECT_NE(placed.error().hint.find("auto, paper"), std::string::npos);
  }
  EXPECT_EQ(place_with("clustering:clusters=1000", problem).core_of.size(), 6U);
}

TEST(CandidateClusterCounts, IncludeOneClusterPerRankAndThePapersNumber) {
  for (const std::uint32_t ranks : {1U, 2U, 30U, 144U, 2000U, 20'000U}) {
    for (const std::uint64_t nodes : {1U, 12U, 125U, 1250U}) {
      const auto counts = candidate_cluster_counts(ranks, nodes, std::max<std::uint64_t>(1, nodes / 2));
      EXPECT_EQ(counts.front(), ranks);
      EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end(), std::greater<>()));
      EXPECT_EQ(std::set<std::uint32_t>(counts.begin(), counts.end()).size(), counts.size());
      EXPECT_NE(std::find(counts.begin(), counts.end(), paper_cluster_count(ranks, nodes)), counts.end());
      EXPECT_GE(counts.back(), 1U);
    }
  }
}

TEST(Clustering, SaysHowManyClustersItUsed) {
  const auto problem = make_problem(testing::random_graph(12, 0.3, 1), topology("node:3=10 core:4=1"));
  EXPECT_EQ(place_with("clustering:clusters=3", problem).note, "3 clusters");
  EXPECT_EQ(place_with("clustering:clusters=12", problem).note, "one cluster per rank");
}

TEST(Clustering, AcceptsEveryOptionOfItsDocumentation) {
  for (const char* const option : {"restarts=3", "at-once=8", "tries=10", "noise=2", "many=5", "low=0.1", "high=2"})
    EXPECT_TRUE(make_mapper(std::string("clustering:") + option)) << option;
  EXPECT_FALSE(make_mapper("clustering:restarts=0"));
}

}  // namespace
}  // namespace rankloom
