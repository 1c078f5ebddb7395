// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/bound/lower_bound.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/bound/degree_capacity_bound.hpp"
#include "rankloom/map/bound/flow_bound.hpp"
#include "rankloom/map/bound/gilmore_lawler.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

constexpr CostModel models[] = {CostModel::bytes, CostModel::time, CostModel::hopbytes, CostModel::quality};

CommGraph random_traffic(std::uint32_t tasks, Random& random) {
  const double density = 0.2 + 0.8 * random.unit();
  const std::uint64_t amounts = random.below(3) == 0 ? 2 : 100;
  const bool undirected = random.below(2) == 0;
  CommGraphBuilder builder(tasks);
  for (std::uint32_t from = 0; from < tasks; ++from) {
    for (std::uint32_t to = 0; to < tasks; ++to) {
      if (random.unit() >= density || (undirected && to < from)) continue;
      builder.add(Rank{from}, Rank{to}, static_cast<double>(random.below(amounts)),
                  static_cast<double>(random.below(4)));
    }
  }
  return std::move(builder).build(random.below(2) == 0, undirected);
}

/// Trees (irregular, with outer levels that cost less than inner ones, with missing and shared cores), networks, and
/// distance tables (symmetric or not, with distances of cores to themselves).
Topology small_machine(Random& random) {
  static const char* const texts[] = {
      "core:8=3,2ns",
      "node:3=10,5ns core:3=1,1ns",
      "switch:2=9,9ns node:2=4,5ns core:2=1,2ns",
      "node:3=10,5ns core:1+4+2=1,9ns",
      "switch:2=2,9ns node:2=4,5ns core:2=3,7ns",
      "node:3=8 core:3=1 !core:1,6-7",
      "node:4=8,3ns core:1*2=1",
      "node:2=8,3ns core:2*2=1",
      "mesh:3x3=5,2ns core:1",
      "mesh:2x2=5 core:2=1",
      "torus:8=2,3ns core:1",
      "torus:2x2=5,1ns core:2=7,7ns",
      "tree:2,2=2 core:2=1",
      "fattree:2,2,2=2 core:1",
      "dragonfly:2,2,2=2 core:1",
  };
  const std::uint64_t choice = random.below(std::size(texts) + 4);
  if (choice < std::size(texts)) return topology(texts[choice]);
  switch (choice - std::size(texts)) {
    case 0:
      return testing::ring_with_chord(random.below(2) == 0);
    case 1:
      return testing::mixed_nodes();
    default:
      return testing::random_table(static_cast<std::uint32_t>(6 + random.below(3)), random.next());
  }
}

/// Compares the Gilmore-Lawler bound and the combined bound with the proved optimum.
void expect_below_the_optimum(const OwnedProblem& problem, const std::string& what) {
  const Placement best = testing::place_with("exhaustive:force", problem);
  const double optimum = problem.cost(best.core_of);
  const double tolerance = 1e-9 * (1 + std::abs(optimum));
  const auto bound = lower_bound(problem.view());
  ASSERT_TRUE(bound) << what;
  ASSERT_LE(*bound, optimum + tolerance) << what;
  ASSERT_LE(gilmore_lawler_bound(problem.view()), *bound + tolerance) << what;
}

TEST(LowerBound, IsNeverAboveTheOptimumOn400RandomProblems) {
  Random random(6);
  for (int instance = 0; instance < 400; ++instance) {
    Topology machine = small_machine(random);
    std::uint32_t slots = 0;
    for (const Core core : machine.cores()) slots += machine.capacity(core);
    const auto tasks = static_cast<std::uint32_t>(1 + random.below(std::min(slots, 7U)));
    const auto problem = make_problem(random_traffic(tasks, random), machine, models[instance % 4]);
    expect_below_the_optimum(problem, fmt::format("instance {}: {} tasks", instance, tasks));
  }
}

TEST(LowerBound, IsNeverAboveTheOptimumWhenRanksShareCores) {
  Random random(7);
  for (int instance = 0; instance < 120; ++instance) {
    const char* const texts[] = {"core:2=3,1ns", "node:2=5,3ns core:2=1,2ns", "torus:3=2,3ns core:1",
                                 "node:2=5,3ns core:1+2=1,2ns"};
    Topology machine = instance % 5 == 4 ? testing::random_table(3, random.next()) : topology(texts[instance % 5]);
    const auto tasks = static_cast<std::uint32_t>(3 + random.below(5));
    const auto problem = make_problem(random_traffic(tasks, random), machine, models[random.below(4)],
                                      {.oversubscribe = true, .imbalance = instance % 3 == 0 ? 0.5 : 0.0});
    expect_below_the_optimum(problem, fmt::format("instance {}: {} tasks", instance, tasks));
  }
}

/// Compares each bound on one shell with the minimum traffic between nodes.
TEST(LowerBound, BoundsOnOneShellAreNeverAboveTheMinimumTraffic) {
  Random random(8);
  for (int instance = 0; instance < 150; ++instance) {
    const auto tasks = static_cast<std::uint32_t>(5 + random.below(4));
    const std::uint32_t cores_per_node = 2 + static_cast<std::uint32_t>(random.below(3));
    const auto problem = make_problem(
        random_traffic(tasks, random),
        topology(fmt::format("node:{}=2 core:{}=1", (tasks + cores_per_node - 1) / cores_per_node, cores_per_node)));
    const Placement best = testing::place_with("exhaustive:force", problem);
    const CommGraph symmetric = symmetrise_traffic(problem.graph);
    const double optimum = problem.cost(best.core_of) - symmetric.total_bytes();
    const DistanceShell shell{cores_per_node, {1, 0}, true};
    const double tolerance = 1e-9 * (1 + optimum);
    const double by_degrees = degree_capacity_bound(symmetric, {&shell, 1});
    const double by_matching = matching_bound(symmetric, shell, 0);
    const double improved = matching_bound(symmetric, shell, 10);
    ASSERT_LE(degree_capacity_bound(problem.graph, {&shell, 1}), optimum + tolerance);
    ASSERT_LE(by_degrees, by_matching + tolerance);
    ASSERT_LE(by_matching, improved + tolerance);
    ASSERT_LE(improved, optimum + tolerance);
    ASSERT_LE(flow_bound(symmetric, shell, 1'000'000), optimum + tolerance);
  }
}

TEST(LowerBound, IsTheOptimumIfGroupsFitObjects) {
  for (const auto& [machine, least] : {std::pair{"node:8=10 core:4=1", 8 * 12 * 1000.0},
                                       std::pair{"switch:4=7 node:4=3 core:2=1", 8 * (4 * 1000.0 + 8 * 3000.0)}}) {
    const auto problem = make_problem(testing::shuffled_groups(8, 4, 3), topology(machine));
    EXPECT_DOUBLE_EQ(*lower_bound(problem.view()), least) << machine;
  }
}

TEST(LowerBound, AccountsForARingThatCrossesEveryNode) {
  // 64 ranks in a ring on 8 nodes: two pairs leave each node, so 8 pairs in total. No rank has more partners than a
  // node has slots.
  CommGraphBuilder builder(64);
  for (std::uint32_t rank = 0; rank < 64; ++rank) builder.add(Rank{rank}, Rank{(rank + 1) % 64}, 100);
  const auto problem = make_problem(std::move(builder).build(false, true), topology("node:8=11 core:8=1"));
  EXPECT_GT(*lower_bound(problem.view()), 6400 + 0.75 * 8000);
  EXPECT_LE(*lower_bound(problem.view()), 6400 + 8000 + 1e-6);
}

TEST(LowerBound, EqualsThePublishedGilmoreLawlerBounds) {
  for (const auto& [name, bound] : {std::pair{"nug12", 493.0}, std::pair{"nug15", 963.0}, std::pair{"nug20", 2057.0},
                                    std::pair{"nug30", 4539.0}, std::pair{"tai25a", 962417.0}}) {
    const auto problem = testing::qaplib(name);
    EXPECT_EQ(std::ceil(gilmore_lawler_bound(problem.view()) - 1e-6), bound) << name;
    EXPECT_EQ(std::ceil(*lower_bound(problem.view()) - 1e-6), bound) << name;
  }
}

TEST(LowerBound, IncludesMessagesOfRanksToThemselves) {
  constexpr std::uint32_t size = 1100;  // too many for the Gilmore-Lawler bound
  std::vector<double> distances(std::size_t{size} * size, 5);
  for (std::uint32_t core = 0; core < size; ++core) distances[core * (size + std::size_t{1})] = 3;
  CommGraphBuilder builder(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) builder.add(Rank{rank}, Rank{rank}, 7);
  auto problem = make_problem(std::move(builder).build(false), *Topology::from_matrix(size, std::move(distances)));
  ASSERT_FALSE(fits_gilmore_lawler(problem.view()));
  EXPECT_DOUBLE_EQ(*lower_bound(problem.view()), size * 7 * 3);
  problem.model = CostModel::quality;  // counts only messages between ranks
  EXPECT_DOUBLE_EQ(*lower_bound(problem.view()), 0);
}

TEST(LowerBound, IsNotAvailableForCongestion) {
  const auto problem =
      make_problem(testing::shuffled_grid(4, 4, 1), topology("mesh:4x4=1 core:1"), CostModel::congestion);
  EXPECT_FALSE(lower_bound(problem.view()));
}

TEST(LowerBound, IsTheSameForAnyNumberOfThreads) {
  const auto problem = make_problem(testing::shuffled_grid(40, 40, 1), topology("switch:10=9 node:10=3 core:16=1"));
  const auto with = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return *lower_bound(problem.view());
  };
  EXPECT_EQ(with(1), with(4));
}

}  // namespace
}  // namespace rankloom
