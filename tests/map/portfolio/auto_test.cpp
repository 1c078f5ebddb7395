// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"
#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"
#include "tests/support/sanitizers.hpp"

namespace rankloom {
namespace {

using testing::block_cost;
using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::random_graph;
using testing::shuffled;
using testing::Stencil;
using testing::topology;

double round_robin_cost(const OwnedProblem& problem) {
  return problem.cost(round_robin_placement(problem.graph.rank_count(), problem.topology, problem.capacities));
}
double auto_cost(const OwnedProblem& problem, std::string_view spec = "auto") {
  return problem.cost(place_with(spec, problem).core_of);
}

Placement place_within(std::chrono::milliseconds time, std::string_view spec, const OwnedProblem& problem) {
  MapRun run;
  run.deadline = Deadline::in(time);
  auto placement = testing::mapper(spec).mapper->place(problem.view(), run);
  EXPECT_TRUE(placement);
  return *std::move(placement);
}

/// The cost of a placement. Fails if it is invalid, or more expensive than a default placement of launchers.
double checked_cost(const OwnedProblem& problem, const Placement& placement) {
  const auto mapping = Mapping::create(placement.core_of, problem.topology, problem.capacities);
  EXPECT_TRUE(mapping) << (mapping ? "" : to_string(mapping.error()));
  if (!mapping) return 0;
  const double cost = problem.cost(placement.core_of);
  EXPECT_LE(cost, block_cost(problem));
  EXPECT_LE(cost, round_robin_cost(problem));
  return cost;
}

/// Each rank communicates with the next; numbers are shuffled.
CommGraph path(std::uint32_t ranks) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) builder.add(Rank{rank}, Rank{rank + 1}, 100);
  return shuffled(std::move(builder).build(true), 1);
}

/// Rank `hub` sends to all others.
CommGraph star(std::uint32_t ranks, std::uint32_t hub) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank != hub) builder.add(Rank{hub}, Rank{rank}, 1);
  }
  return std::move(builder).build(true);
}

/// Nodes of different sizes, missing cores, measured costs, networks.
std::vector<std::string> irregular_machines() {
  return {
      "node:6=3.73,1.9us core:16+24+8+16+32+16=0.81,0.2us",
      "switch:2=4.13,3us node:4=3.71,1.9us core:16=0.97,0.2us !core:1,17-20,40,77 !node:5",
      "node:5=7.3 core:8*3=1.1",
      "torus:4x4x2=5.2,1us core:4=1",
      "mesh:6x6=5,1us core:3=1",
      "dragonfly:4,3,2=2 core:5=1",
      "fattree:4,2,4=2 core:4=1",
      "node:1 core:128=1",
  };
}

struct NamedProgram {
  std::string name;
  CommGraph graph;
};

/// Programs of 96 to 100 ranks.
std::vector<NamedProgram> programs() {
  std::vector<NamedProgram> all;
  all.push_back({"a shuffled grid", testing::shuffled_grid(8, 12, 1)});
  all.push_back({"shuffled groups", testing::shuffled_groups(12, 8, 1)});
  all.push_back({"a path", path(97)});
  all.push_back({"random traffic", random_graph(96, 0.1, 1)});
  all.push_back({"a stencil with corners", shuffled(Stencil{.extent = {5, 5, 4}, .across = {20, 5}}.graph(), 1)});
  return all;
}

TEST(Auto, NeverCostsMoreThanADefaultPlacementForAnyMachineAndProgram) {
  for (const auto& machine : irregular_machines()) {
    for (const auto& [name, graph] : programs()) {
      for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
        SCOPED_TRACE(std::string(spec) + ", " + name + ", " + machine);
        const auto problem = make_problem(graph, topology(machine));
        const double cost = checked_cost(problem, place_with(spec, problem));
        if (name != "random traffic" && machine != "node:1 core:128=1") {
          EXPECT_LT(cost, 0.8 * block_cost(problem));
        }
      }
    }
  }
}

TEST(Auto, SupportsMachinesOfMixedNodesAndTables) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const bool shared : {false, true}) {
      for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
        SCOPED_TRACE(std::string(spec) + ", " + name);
        const auto problem = make_problem(random_graph(shared ? 60 : 11, shared ? 0.1 : 0.4, 1), machine,
                                          CostModel::bytes, {.oversubscribe = shared, .imbalance = 0.03});
        const double cost = checked_cost(problem, place_with(spec, problem));
        if (name != "core:16=1") {
          EXPECT_LT(cost, block_cost(problem));
        }
      }
    }
  }
}

TEST(Auto, UsesItsTimeBudgetWithTheBestEffort) {
  constexpr std::chrono::milliseconds budget(200 * testing::slowdown);
  for (const char* machine : {"node:6=3.73,1.9us core:16+24+8+16+32+16=0.81,0.2us", "torus:4x4x2=5.2,1us core:4=1",
                              "switch:2=4.13,3us node:4=3.71,1.9us core:16=0.97,0.2us !core:1,17-20,40,77 !node:5"}) {
    SCOPED_TRACE(machine);
    const auto problem = make_problem(random_graph(96, 0.1, 1), topology(machine));
    const auto placement = place_within(budget, "auto:effort=best", problem);
    EXPECT_LT(checked_cost(problem, placement), 0.95 * block_cost(problem));
    EXPECT_EQ(placement.note, stopped_note);
  }
}

TEST(Auto, CostsLessThanBlockUnderEveryModel) {
  for (const CostModelInfo& model : cost_models()) {
    for (const char* machine : {"switch:2=4.13,3us node:4=3.71,1.9us core:16=0.97,0.2us",
                                "torus:4x4x2=5.2,1us core:4=1", "node:3=10,2us core:8=1,0.1us"}) {
      for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
        SCOPED_TRACE(std::string(spec) + ", " + std::string(model.name) + ", " + machine);
        const auto problem = make_problem(random_graph(96, 0.1, 2), topology(machine), model.model,
                                          {.oversubscribe = true, .imbalance = 0.03});
        EXPECT_LT(checked_cost(problem, place_with(spec, problem)), block_cost(problem));
      }
    }
  }
}

TEST(Auto, FindsShuffledGroups) {
  for (const auto& [groups, size, machine] : std::vector<std::tuple<std::uint32_t, std::uint32_t, const char*>>{
           {4, 4, "node:4=10 core:4=1"}, {8, 16, "switch:2=9 node:4=4 core:16=1"}, {64, 16, "node:64=10 core:16=1"}}) {
    const auto problem = make_problem(testing::shuffled_groups(groups, size, 7), topology(machine));
    EXPECT_EQ(auto_cost(problem), problem.graph.total_bytes()) << machine;
    EXPECT_EQ(auto_cost(problem, "auto:effort=fast"), problem.graph.total_bytes()) << machine;
  }
}

TEST(Auto, FindsGroupsByTheirMessagesUnderTheTimeModel) {
  // All ranks exchange the same bytes; ranks of one group exchange many messages.
  std::vector<Rank> names;
  for (std::uint32_t rank = 0; rank < 64; ++rank) names.push_back(Rank{rank});
  Random(1).shuffle(std::span(names));
  for (const double bytes : {0.0, 1.0}) {
    CommGraphBuilder builder(64);
    for (std::uint32_t a = 0; a < 64; ++a) {
      for (std::uint32_t b = 0; b < 64; ++b) {
        if (a != b) builder.add(names[a], names[b], bytes, a / 8 == b / 8 ? 1000 : 0);
      }
    }
    const auto problem =
        make_problem(std::move(builder).build(true), topology("node:8=1,2us core:8=0.1,0.1us"), CostModel::time);
    std::vector<Core> ideal(64);
    for (std::uint32_t rank = 0; rank < 64; ++rank) ideal[index(names[rank])] = Core{rank};
    for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
      EXPECT_DOUBLE_EQ(auto_cost(problem, spec), problem.cost(ideal)) << spec;
    }
  }
}

TEST(Auto, DoesNotRelyOnAGridOfBytesUnderTheTimeModel) {
  // The bytes form a grid in row-major order. The messages, which cost more, are between ranks half the machine apart.
  CommGraphBuilder builder(64);
  for (std::uint32_t at = 0; at < 64; ++at) {
    if (at % 8 > 0) builder.add(Rank{at}, Rank{at - 1}, 10, 1);
    if (at % 8 < 7) builder.add(Rank{at}, Rank{at + 1}, 10, 1);
    if (at >= 8) builder.add(Rank{at}, Rank{at - 8}, 10, 1);
    if (at < 56) builder.add(Rank{at}, Rank{at + 8}, 10, 1);
    builder.add(Rank{at}, Rank{at ^ 32U}, 0, 500);
  }
  const auto problem =
      make_problem(std::move(builder).build(true), topology("node:8=1,2us core:8=0.1,0.1us"), CostModel::time);
  EXPECT_LT(auto_cost(problem), 0.2 * block_cost(problem));
}

TEST(Auto, ReachesTheTilingOfStencilsInAnyOrder) {
  const auto machine = testing::built(*parse_hierarchy("4:8:32", "1:10:100"));
  const auto stencil = Stencil{.extent = {32, 32}, .along = {10, 10}}.graph();
  for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
    EXPECT_EQ(auto_cost(make_problem(stencil, machine), spec), 394240) << spec;
    for (const std::uint64_t seed : {1, 2}) {
      EXPECT_EQ(auto_cost(make_problem(shuffled(stencil, seed), machine), spec), 394240) << spec;
    }
  }
}

TEST(Auto, EmbedsGridsInMeshes) {
  for (const char* const effort : {"auto:effort=fast", "auto"}) {
    const auto problem = make_problem(testing::shuffled_grid(32, 16, 1), topology("torus:16x32=1"));
    EXPECT_DOUBLE_EQ(problem.cost(place_with(effort, problem).core_of), 100.0 * (31 * 16 + 32 * 15));
  }
}

/// Traffic that fits a grid of 2x2x2x2x2x2, as any other traffic of 64 ranks: ranks whose numbers differ in one bit
/// exchange `along`, and every rank sends `across` to the one whose number differs in both bits of `corner`.
CommGraph hypercube_with_corners(double along, double across, std::uint32_t corner) {
  CommGraphBuilder builder(64);
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    for (std::uint32_t bit = 1; bit < 64; bit *= 2) builder.add(Rank{rank}, Rank{rank ^ bit}, along);
    builder.add(Rank{rank}, Rank{rank ^ corner}, across);
  }
  return std::move(builder).build(false);
}

TEST(Auto, KeepsHeavyCornersOfAGridInsideNodes) {
  for (const char* const machine : {"node:32=10 core:2=1", "torus:4x4x2=10 core:2=1"}) {
    const auto problem = make_problem(hypercube_with_corners(10, 1000, 0b101), topology(machine));
    for (const char* const effort : {"auto:effort=fast", "auto"}) {
      const auto core_of = place_with(effort, problem).core_of;
      for (std::uint32_t rank = 0; rank < 64; ++rank) {
        EXPECT_EQ(problem.topology.node_of(core_of[rank]), problem.topology.node_of(core_of[rank ^ 0b101]))
            << machine << " " << effort << " " << rank;
      }
    }
  }
}

TEST(Auto, SearchesOnIfEdgesAcrossCornersTakeSeveralHops) {
  CommGraphBuilder builder(64);
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    for (std::uint32_t bit = 1; bit < 64; bit *= 2) builder.add(Rank{rank}, Rank{rank ^ bit}, 1);
    // A path through all ranks, each step of which changes many bits.
    builder.add(Rank{rank * 37 % 64}, Rank{(rank + 1) * 37 % 64}, 100);
    builder.add(Rank{(rank + 1) * 37 % 64}, Rank{rank * 37 % 64}, 100);
  }
  const auto problem = make_problem(std::move(builder).build(false), topology("torus:4x4x4=1"));
  for (const char* const effort : {"auto:effort=fast", "auto"}) {
    // The ring of 64 ranks has one hop per edge in the torus; the embedding of the cube has three in the mean.
    EXPECT_LT(auto_cost(problem, effort), 64 * 2 * 100 * 1.7) << effort;
  }
}

TEST(Auto, IsNeverWorseWithMoreEffort) {
  for (const char* const machine :
       {"torus:4x4x2=3 core:3=1", "dragonfly:3,4,2=3 core:4=1", "switch:4=5 node:3=3 core:8=1"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto problem = make_problem(testing::random_graph(90, 0.06, seed), topology(machine));
      const double fast = problem.cost(place_with("auto:effort=fast", problem, seed).core_of);
      const double balanced = problem.cost(place_with("auto", problem, seed).core_of);
      EXPECT_LE(balanced, fast) << machine << " " << seed;
    }
  }
}

TEST(Auto, HasNoMoreCongestionThanWithLessBytesAndDistance) {
  for (const char* const machine : {"torus:4x3=3 core:12=1", "dragonfly:3,4,2=3 core:6=1"}) {
    for (const std::uint64_t seed : {1, 2}) {
      auto problem = make_problem(testing::shuffled_groups(16, 8, seed), topology(machine));
      const auto by_bytes = place_with("auto", problem, seed).core_of;
      problem.model = CostModel::congestion;
      EXPECT_LE(problem.cost(place_with("auto", problem, seed).core_of), problem.cost(by_bytes)) << machine << seed;
    }
  }
}

TEST(Auto, ReducesTheCostOfShuffledGrids) {
  for (const char* machine : {"switch:4=10 node:4=4 core:64=1", "torus:32x32=1 core:1"}) {
    const auto problem = make_problem(testing::shuffled_grid(32, 32, 1), topology(machine));
    EXPECT_LT(auto_cost(problem, "auto:effort=fast"), 0.5 * block_cost(problem)) << machine;
  }
}

TEST(Auto, NotesThatEveryPlacementCostsTheSame) {
  const auto full = make_problem(testing::shuffled_groups(1, 24, 1), topology("node:3=10 core:7+12+5=1"));
  const auto placement = place_with("auto", full);
  EXPECT_EQ(placement.note, "every placement costs the same");
  EXPECT_EQ(checked_cost(full, placement), block_cost(full));
  // With free cores, placements differ: it is best to leave the smallest node free.
  const auto with_free_slots = make_problem(testing::shuffled_groups(1, 19, 1), topology("node:3=10 core:5+12+7=1"));
  const auto selected = place_with("auto", with_free_slots);
  EXPECT_EQ(selected.note, "");
  EXPECT_LT(checked_cost(with_free_slots, selected), block_cost(with_free_slots));
}

TEST(Auto, PacksNodesIfThatCostsLess) {
  // The path of 16 fits on two of the eight nodes and is cut once.
  const auto problem = make_problem(path(16), topology("node:8=10 core:8=1"));
  EXPECT_EQ(auto_cost(problem), 100 * (14 + 10));
  EXPECT_EQ(auto_cost(problem, "auto:effort=fast"), 100 * (14 + 10));
}

TEST(Auto, SpreadsRanksIfThatCostsLess) {
  // Completely filled nodes would cut groups of six.
  const auto problem = make_problem(testing::shuffled_groups(8, 6, 1), topology("node:12=10 core:8=1"));
  EXPECT_EQ(auto_cost(problem), problem.graph.total_bytes());
}

/// The number of nodes that the ranks use.
std::size_t nodes_of(const OwnedProblem& problem, const std::vector<Core>& core_of) {
  std::vector<Node> nodes;
  for (const Core core : core_of) nodes.push_back(problem.topology.node_of(core));
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

TEST(Auto, UsesAsManyNodesAsTheProgramIsFastestOn) {
  const auto groups = testing::shuffled_groups(4, 2, 1);
  for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
    const auto shared_bus = make_problem(groups, topology("node:4=1 core:8=0.1 width:bus=1"), CostModel::predicted);
    EXPECT_EQ(nodes_of(shared_bus, place_with(spec, shared_bus).core_of), 4) << "each pair has a bus of its own";
    const auto ring = make_problem(path(8), topology("node:4=10,1us core:8=1,0.1us"), CostModel::predicted);
    EXPECT_EQ(nodes_of(ring, place_with(spec, ring).core_of), 1) << "the network is slow";
  }
}

TEST(Auto, KnowsTheBusOfAMachineWithUnusableCores) {
  const auto problem = make_problem(testing::shuffled_groups(4, 2, 1),
                                    topology("node:4=1 core:8=0.1 width:bus=1 !core:1,9,20"), CostModel::predicted);
  const auto result = run_mapper(testing::mapper("auto"), problem.view(), MapRun{}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(nodes_of(problem, {result->mapping.cores().begin(), result->mapping.cores().end()}), 4);
}

TEST(Auto, AvoidsSharedLinksIfTheGoalIsTime) {
  const auto problem = make_problem(testing::shuffled_grid(8, 8, 1),
                                    topology("switch:4=3,2us node:4=2,1us core:4=1,0.1us"), CostModel::predicted);
  const auto of_bytes = make_problem(testing::shuffled_grid(8, 8, 1), problem.topology);
  const double seconds = auto_cost(problem);
  EXPECT_LE(seconds, problem.cost(place_with("auto", of_bytes).core_of));
  EXPECT_LT(seconds, 0.7 * block_cost(problem));
}

/// Seconds of the communication with this mapper.
double by_flows(const std::string& spec, const OwnedProblem& problem) {
  const std::vector<Core> core_of = place_with(spec, problem).core_of;
  return *predict_by_flows(problem.graph, *Platform::of(problem.topology), core_of);
}

TEST(Auto, AFlowPredictionChoosesAmongTheBestPlacements) {
  double gain = 1;
  for (const char* machine :
       {"switch:2=3,2us node:3=2,1us core:8=1,0.1us width:bus=2", "torus:3x3=2,1us core:4=1,0.1us"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto problem = make_problem(random_graph(32, 0.15, seed), topology(machine), CostModel::predicted);
      const double flows = by_flows("auto", problem), channels = by_flows("auto:prediction=channels", problem);
      EXPECT_LE(flows, by_flows("block", problem));
      EXPECT_LE(flows, 1.021 * channels) << "less than two percent do not justify another placement than the default";
      gain *= flows / channels;
    }
  }
  EXPECT_LT(gain, 0.99);
}

TEST(Auto, IsTheSameForAnyNumberOfThreads) {
  const auto full = make_problem(random_graph(300, 0.02, 1), topology("switch:3=20 node:10=10 core:10=1"));
  const auto with_free_slots = make_problem(random_graph(200, 0.03, 1), topology("torus:4x4x4=5 core:5=1"));
  const auto shared = make_problem(random_graph(400, 0.01, 1), topology("node:4=10 core:5+7+9+11=1"), CostModel::bytes,
                                   {.oversubscribe = true, .imbalance = 0.03});
  const auto by_time = make_problem(random_graph(60, 0.1, 1), topology("torus:4x4x2=5 core:5=1"), CostModel::predicted);
  for (const OwnedProblem* const problem : {&full, &with_free_slots, &shared, &by_time}) {
    for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
      std::vector<std::vector<Core>> results;
      for (const std::size_t threads : {1, 2, 2}) {
        const ThreadLimit limit(threads);
        results.push_back(place_with(spec, *problem, 7).core_of);
      }
      EXPECT_EQ(results[0], results[1]) << spec;
      EXPECT_EQ(results[1], results[2]) << spec;
    }
  }
}

TEST(Auto, ReturnsAValidPlacementWhenTheDeadlinePasses) {
  const auto problem = make_problem(random_graph(3000, 0.002, 1), topology("node:40=10 core:75=1"));
  for (const char* spec : {"auto:effort=fast", "auto:effort=balanced", "auto:effort=best"}) {
    const auto placement = place_within(std::chrono::milliseconds(1), spec, problem);
    EXPECT_TRUE(Mapping::create(placement.core_of, problem.topology, problem.capacities)) << spec;
    EXPECT_LE(problem.cost(placement.core_of), block_cost(problem)) << spec;
    EXPECT_EQ(placement.note, stopped_note) << spec;
  }
}

TEST(Auto, KeepsABetterStart) {
  // Every group on its own node is optimal; block is not.
  auto problem = make_problem(testing::shuffled_groups(3, 4, 3), topology("node:3=10 core:4=1"));
  problem.start = place_with("auto", problem).core_of;
  ASSERT_EQ(problem.cost(problem.start), problem.graph.total_bytes());
  EXPECT_EQ(place_within(std::chrono::milliseconds(0), "auto", problem).core_of, problem.start);
}

TEST(Auto, SupportsProgramsWithFewRanksOrNoTraffic) {
  CommGraphBuilder alone(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) alone.add(Rank{rank}, Rank{rank}, 10, 1);
  const CommGraph only_loops = std::move(alone).build(true);
  for (const char* spec : {"auto:effort=fast", "auto:effort=balanced", "auto:effort=best"}) {
    for (const char* machine : {"node:4=10 core:4=1", "torus:2x2=3 core:4=1", "node:2=10 core:5+11=1"}) {
      SCOPED_TRACE(std::string(spec) + " " + machine);
      for (const std::uint32_t ranks : {0U, 1U, 2U, 10U, 16U}) {
        const auto silent = make_problem(CommGraphBuilder(ranks).build(true), topology(machine));
        EXPECT_EQ(checked_cost(silent, place_with(spec, silent)), 0);
      }
      const auto pair = make_problem(path(2), topology(machine));
      EXPECT_EQ(checked_cost(pair, place_with(spec, pair)), 100);
      const auto loops = make_problem(only_loops, topology(machine));
      EXPECT_EQ(checked_cost(loops, place_with(spec, loops)), 0);
    }
  }
}

TEST(Auto, PlacesAHubOnTheLargestNode) {
  const auto problem = make_problem(star(5000, 4999), topology("node:4=10 core:500+1000+2000+1500=1"));
  EXPECT_EQ(checked_cost(problem, place_with("auto:effort=fast", problem)), 1999 + 3000 * 10);
  const auto smaller = make_problem(star(50, 49), topology("node:4=10 core:5+10+20+15=1"));
  EXPECT_EQ(checked_cost(smaller, place_with("auto", smaller)), 19 + 30 * 10);
}

TEST(Auto, KeepsDisconnectedGroupsTogether) {
  // Groups of 12, 8 and 4 ranks and eight ranks without traffic, on two nodes of 16.
  CommGraphBuilder builder(32);
  std::uint32_t first = 0;
  for (const std::uint32_t size : {12, 8, 4}) {
    for (std::uint32_t a = first; a < first + size; ++a) {
      for (std::uint32_t b = first; b < first + size; ++b) {
        if (a != b) builder.add(Rank{a}, Rank{b}, 10);
      }
    }
    first += size;
  }
  const auto problem = make_problem(shuffled(std::move(builder).build(true), 1), topology("node:2=10 core:16=1"));
  for (const char* spec : {"auto:effort=fast", "auto:effort=balanced"}) {
    EXPECT_EQ(checked_cost(problem, place_with(spec, problem)), problem.graph.total_bytes()) << spec;
  }
}

TEST(Auto, LimitsTheLoadOfACoreOnRequest) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CommGraph::Rows rows = testing::shuffled_grid(24, 24, seed).rows();
    Random random(seed);
    for (std::uint32_t rank = 0; rank < 576; ++rank) rows.loads.push_back(static_cast<double>(1 + random.below(9)));
    auto problem = make_problem(CommGraph(std::move(rows)), topology("node:4=10 core:4=1"), CostModel::bytes,
                                {.oversubscribe = true});
    for (const char* spec : {"auto:load", "auto:load,effort=fast", "auto:load,tolerance=0.2"}) {
      const auto result = run_mapper(testing::mapper(spec), problem.view(), MapRun{});
      ASSERT_TRUE(result) << spec;
      ASSERT_TRUE(result->load) << spec;
      const double tolerance = std::string_view(spec).ends_with("0.2") ? 0.2 : 0.03;
      EXPECT_LE(result->load->imbalance(), tolerance + 1e-9) << spec << ", seed " << seed;
      EXPECT_LT(result->cost, 0.5 * result->cost_default) << spec << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace rankloom
