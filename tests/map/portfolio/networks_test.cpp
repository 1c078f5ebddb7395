// SPDX-License-Identifier: Apache-2.0
// Properties of `auto` on every kind of network.
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/portfolio/parts_first.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/map/structure/embedding/grid_embedding.hpp"
#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::random_graph;
using testing::shuffled;
using testing::Stencil;
using testing::topology;

struct Case {
  const char* machine;
  std::vector<std::uint32_t> grid;  ///< Has as many cells as the machine has cores.
};

/// Meshes and tori of 1 to 6 dimensions, fat trees, dragonflies.
std::vector<Case> cases() {
  return {{"mesh:16=1", {4, 4}},
          {"torus:24=1", {4, 6}},
          {"mesh:6x4=3 core:2=1", {6, 8}},
          {"torus:8x6=1", {4, 4, 3}},
          {"torus:4x4x4=1", {8, 8}},
          {"torus:3x2x2=3 core:4=1", {6, 8}},
          {"torus:2x3x4x2=1", {6, 8}},
          {"torus:2x2x3x2x2=1", {6, 8}},
          {"torus:2x2x2x2x2x2=1", {4, 4, 4}},
          {"fattree:4,4/1,2=3 core:3=1", {6, 8}},
          {"dragonfly:4,3,2=3 core:2=1", {6, 8}}};
}

void for_each_problem(CostModel model, const auto& visit) {
  const auto use = [&](const std::string& name, CommGraph graph, Topology machine) {
    SCOPED_TRACE(name);
    visit(make_problem(std::move(graph), std::move(machine), model));
  };
  for (const Case& each : cases()) {
    const Topology machine = topology(each.machine);
    use(each.machine + std::string(", a grid"), shuffled(Stencil{.extent = each.grid}.graph(), 5), machine);
    use(each.machine + std::string(", random traffic"), random_graph(machine.core_count(), 0.1, 2), machine);
    use(each.machine + std::string(", free slots"), random_graph(machine.core_count() * 2 / 3, 0.15, 3), machine);
  }
  for (const bool with_tables : {false, true}) {
    const Topology machine = testing::ring_with_chord(with_tables);
    use("a graph", random_graph(machine.core_count(), 0.3, 2), machine);
  }
}

void expect_valid(const OwnedProblem& problem, std::span<const Core> core_of) {
  std::vector<std::uint32_t> taken(problem.topology.core_count(), 0);
  ASSERT_EQ(core_of.size(), problem.graph.rank_count());
  for (const Core core : core_of) {
    ASSERT_LT(index(core), problem.topology.core_count());
    ASSERT_LE(++taken[index(core)], problem.capacities[core]);
  }
}

constexpr double rounding = 1 + 1e-9;

TEST(AutoOnNetworks, IsValidAndNeverCostsMoreThanTheBlockPlacement) {
  for (const CostModel model : {CostModel::bytes, CostModel::congestion}) {
    for_each_problem(model, [](const OwnedProblem& problem) {
      const auto core_of = place_with("auto:effort=fast", problem).core_of;
      expect_valid(problem, core_of);
      EXPECT_LE(problem.cost(core_of), rounding * testing::block_cost(problem));
    });
  }
}

TEST(AutoOnNetworks, NeverCostsMoreWithMoreEffort) {
  for_each_problem(CostModel::bytes, [](const OwnedProblem& problem) {
    if (problem.graph.rank_count() > 32) return;  // so that the test stays short
    const auto balanced = place_with("auto", problem).core_of;
    expect_valid(problem, balanced);
    EXPECT_LE(problem.cost(balanced), rounding * problem.cost(place_with("auto:effort=fast", problem).core_of));
  });
}

/// The QAP instance's second matrix as traffic: the first one of the Nugent instances has the distances of a mesh.
CommGraph nugent_traffic(const char* name) {
  const auto problem = testing::qaplib(name);
  CommGraphBuilder builder(problem.graph.rank_count());
  for (const Core a : problem.topology.cores()) {
    for (const Core b : problem.topology.cores()) {
      const double bytes = problem.topology.cost(a, b).inverse_bandwidth;
      if (bytes > 0) builder.add(Rank{index(a)}, Rank{index(b)}, bytes);
    }
  }
  return std::move(builder).build(false);
}

TEST(AutoOnNetworks, ReachesTheProvedOptimumOfDenseProgramsWithFewRanks) {
  struct Instance {
    const char *name, *machine;
    double optimum;
  };
  for (const auto& [name, machine, optimum] : {Instance{"nug12", "mesh:3x4=1", 578},
                                               {"nug15", "mesh:3x5=1", 1150},
                                               {"nug20", "mesh:4x5=1", 2570},
                                               {"nug25", "mesh:5x5=1", 3744}}) {
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      const auto problem = make_problem(nugent_traffic(name), topology(machine));
      EXPECT_EQ(problem.cost(place_with("auto", problem, seed).core_of), optimum) << name << ' ' << seed;
    }
  }
}

TEST(AutoOnNetworks, NeverRaisesTheCostOfAStart) {
  // Scotch's mapping if Scotch is there.
  const char* const start = find_mapper("scotch") != nullptr ? "scotch" : "greedy";
  for (const CostModel model : {CostModel::bytes, CostModel::congestion}) {
    for_each_problem(model, [&](OwnedProblem problem) {
      auto placement = testing::mapper(start).mapper->place(problem.view(), {});
      if (!placement) return;  // the mapper does not support this machine
      problem.start = std::move(placement->core_of);
      EXPECT_LE(problem.cost(place_with("auto:effort=fast", problem).core_of), rounding * problem.cost(problem.start));
    });
  }
}

TEST(AutoOnNetworks, IsTheSameForAnyNumberOfThreads) {
  for (const CostModel model : {CostModel::bytes, CostModel::congestion}) {
    for_each_problem(model, [](const OwnedProblem& problem) {
      std::vector<std::vector<Core>> results;
      for (const std::size_t threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        results.push_back(place_with("auto:effort=fast", problem, 7).core_of);
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    });
  }
}

TEST(AutoOnNetworks, ReducesCongestionBelowThatOfTheMappingForBytes) {
  for_each_problem(CostModel::congestion, [](const OwnedProblem& problem) {
    OwnedProblem by_bytes = problem;
    by_bytes.model = CostModel::bytes;
    EXPECT_LE(problem.cost(place_with("auto:effort=fast", problem).core_of),
              rounding * problem.cost(place_with("auto:effort=fast", by_bytes).core_of));
  });
}

TEST(AutoOnNetworks, PartitionsAGridWhoseBoxesAreThin) {
  // The only boxes of ten cells that fit this torus are five cells long and one thick.
  const Stencil stencil{.extent = {5, 4, 6}, .across = {3, 0.1}};
  for (const char* const machine : {"torus:3x4=2 core:10=1", "torus:3x4=4 core:10=1"}) {
    const auto problem = make_problem(shuffled(stencil.graph(), 1), topology(machine));
    const auto embedding = embed_grid_in_mesh(problem.view(), *recognise_grid(problem.graph));
    ASSERT_TRUE(embedding && embedding->adjacent);
    EXPECT_LT(problem.cost(place_with("auto", problem).core_of), 0.98 * problem.cost(embedding->core_of)) << machine;
  }
}

TEST(PartsFirst, PlacesTheRanksOfANodeTogetherAndThePartsClose) {
  // Four groups in a ring on the eight nodes of a ring.
  const auto problem = make_problem(testing::shuffled_groups(8, 4, 1), topology("torus:8=5 core:4=1"));
  std::vector<std::uint32_t> nodes;
  const auto placement = place_parts_first(problem.view(), [&](const MapProblem& part) {
    nodes.push_back(part.topology.node_count());
    EXPECT_EQ(part.topology.routed(), nodes.size() == 2);
    EXPECT_EQ(part.graph.rank_count(), nodes.size() == 1 ? 32 : 8);
    const auto result = run_mapper(testing::mapper("auto"), part, {});
    return std::vector<Core>(result->mapping.cores().begin(), result->mapping.cores().end());
  });
  ASSERT_TRUE(placement);
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{8, 8}));
  EXPECT_TRUE(Mapping::create(*placement, problem.topology, problem.capacities));
  EXPECT_EQ(problem.cost(*placement), problem.cost(place_with("auto", problem).core_of));
}

TEST(PartsFirst, NeedsANetworkOfEqualNodesWithSeveralSlots) {
  const auto graph = testing::shuffled_groups(4, 3, 1);
  for (const char* const machine :
       {"node:4=5 core:3=1", "torus:12=1", "mesh:2=5 core:6+7=1", "torus:4=5 core:4=1 !core:2"}) {
    const auto problem = make_problem(graph, topology(machine));
    EXPECT_FALSE(place_parts_first(problem.view(), [](const MapProblem&) -> std::vector<Core> { std::abort(); }))
        << machine;
  }
}

}  // namespace
}  // namespace rankloom
