// SPDX-License-Identifier: Apache-2.0
#include "rankloom/capture/generate/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "tests/capture/import_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using ::testing::ElementsAre;
using testing::expect_equal;
using ::testing::HasSubstr;

Profile made(const std::string& spec) {
  auto profile = generate(spec);
  EXPECT_TRUE(profile) << spec << ": " << (profile ? "" : to_string(profile.error()));
  return profile ? std::move(*profile) : Profile();
}

CommGraph graph_of(const std::string& spec) {
  return made(spec).point_to_point;
}

Error error_of(const std::string& spec) {
  auto profile = generate(spec);
  EXPECT_FALSE(profile) << spec;
  return profile ? Error{} : profile.error();
}

/// Reference implementation: enumerates offsets of -1, 0 and 1 in each dimension.
Edges plain_stencil(std::array<int, 3> extents, std::array<bool, 3> periodic, const std::array<double, 4>& weights) {
  Edges edges;
  const auto [a, b, c] = extents;
  for (int from = 0; from < a * b * c; ++from)
    for (int step = 0; step < 27; ++step) {
      const std::array<int, 3> steps = {step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1};
      std::array<int, 3> place = {from / c / b, from / c % b, from % c};
      int differing = 0;
      bool exists = step != 13;
      for (std::size_t d = 0; d < 3; ++d) {
        differing += std::abs(steps[d]);
        place[d] += steps[d];
        if (periodic[d] && extents[d] > 1) place[d] = (place[d] + extents[d]) % extents[d];
        exists = exists && place[d] >= 0 && place[d] < extents[d];
      }
      const double weight = weights[static_cast<std::size_t>(differing)];
      const int to = (place[0] * b + place[1]) * c + place[2];
      if (exists && weight > 0) edges[{from, to}] += weight;
    }
  return edges;
}

TEST(Patterns, AreValidWithTheirDefaults) {
  ASSERT_GE(generators().size(), 15U);
  for (const GeneratorInfo& info : generators()) {
    SCOPED_TRACE(info.name);
    EXPECT_EQ(find_generator(info.name), &info);
    const Profile profile = made(std::string(info.name));
    const CommGraph& graph = profile.point_to_point;
    EXPECT_GT(graph.rank_count(), 1U);
    EXPECT_TRUE(graph.edge_count() > 0 || !profile.collectives.empty());
    for (const Rank r : graph.ranks()) {
      const auto targets = graph.targets(r);
      EXPECT_EQ(std::adjacent_find(targets.begin(), targets.end(), std::greater_equal<>()), targets.end());
      for (const Rank to : targets) ASSERT_LT(index(to), graph.rank_count());
      for (const double bytes : graph.bytes(r)) ASSERT_GT(bytes, 0);
    }
    for (const Communicator& communicator : profile.communicators)
      for (const Rank member : communicator.members) ASSERT_LT(index(member), graph.rank_count());
    EXPECT_THAT(profile.origin.at("source"), HasSubstr(std::string(info.name)));
  }
}

TEST(Patterns, DependOnTheSeedButNotOnTheNumberOfThreads) {
  for (const GeneratorInfo& info : generators()) {
    SCOPED_TRACE(info.name);
    const auto with = [&](std::size_t threads) {
      const ThreadLimit limit(threads);
      return graph_of(std::string(info.name) + ":seed=5,shuffle");
    };
    expect_equal(with(1), with(4));
  }
}

TEST(Patterns, RandomPatternsDifferBySeed) {
  for (const std::string name : {"rgg", "rggmesh", "blocks", "powerlaw", "random"})
    EXPECT_NE(edges_of(graph_of(name + ":shuffle=false,seed=1")), edges_of(graph_of(name + ":shuffle=false,seed=2")))
        << name;
}

TEST(Patterns, QaplibContainsTheFlowsOfTheFiles) {
  for (const std::string name : {"nug12", "nug15", "nug20", "nug25", "nug30", "sko42"}) {
    SCOPED_TRACE(name);
    std::ifstream file(std::string(RANKLOOM_TEST_DATA) + "/qaplib/" + name + ".dat");
    std::uint32_t ranks = 0;
    double flow = 0;
    ASSERT_TRUE(file >> ranks);
    for (std::uint32_t i = 0; i < ranks * ranks; ++i) ASSERT_TRUE(file >> flow);  // the distances
    CommGraphBuilder builder(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) {
      for (std::uint32_t j = 0; j < ranks; ++j) {
        ASSERT_TRUE(file >> flow);
        if (flow > 0) builder.add(Rank{i}, Rank{j}, flow);
      }
    }
    EXPECT_EQ(edges_of(graph_of("qaplib:name=" + name)), edges_of(std::move(builder).build(false)));
  }
}

TEST(Patterns, ShufflingRenumbersRanksOnly) {
  for (const GeneratorInfo& info : generators()) {
    SCOPED_TRACE(info.name);
    const std::string name(info.name);
    const Profile plain = made(name + ":shuffle=false");
    const Profile shuffled = made(name + ":shuffle");
    // the same renumbering, computed here
    std::vector<Rank> names(plain.rank_count());
    for (std::uint32_t r = 0; r < names.size(); ++r) names[r] = Rank{r};
    Random(0, static_cast<std::uint64_t>(Stream::numbering)).shuffle(std::span<Rank>(names));
    EXPECT_FALSE(std::is_sorted(names.begin(), names.end()));
    expect_equal(relabel(traffic(plain, CollectiveModel::flat), names), traffic(shuffled, CollectiveModel::flat));
  }
}

TEST(Stencils, EqualAnEnumerationOfNeighbours) {
  struct Case {
    std::string spec;
    std::array<int, 3> extents;
    std::array<bool, 3> periodic;
    std::array<double, 4> weights;
  };
  const std::vector<Case> cases = {
      {"stencil2d:size=4x5", {1, 4, 5}, {}, {0, 10, 0, 0}},
      {"stencil2d:size=4x5,points=9", {1, 4, 5}, {}, {0, 10, 1, 0}},
      {"stencil2d:size=4x3,points=9,periodic=x", {1, 4, 3}, {false, true, false}, {0, 10, 1, 0}},
      {"stencil2d:size=2x3,points=9,periodic", {1, 2, 3}, {true, true, true}, {0, 10, 1, 0}},
      {"stencil2d:size=1x6,periodic=all", {1, 1, 6}, {true, true, true}, {0, 10, 0, 0}},
      {"stencil3d:size=3x4x5,points=7", {3, 4, 5}, {}, {0, 100, 0, 0}},
      {"stencil3d:size=3x4x5", {3, 4, 5}, {}, {0, 100, 10, 1}},
      {"stencil3d:size=3x4x5,periodic=xz", {3, 4, 5}, {true, false, true}, {0, 100, 10, 1}},
      {"stencil3d:size=2x2x2,periodic=all", {2, 2, 2}, {true, true, true}, {0, 100, 10, 1}},
      {"stencil3d:size=1x2x3,periodic=all,face=5,edge=6,corner=7", {1, 2, 3}, {true, true, true}, {0, 5, 6, 7}},
      {"grid2d:size=3x4,periodic=y,bytes=2", {1, 3, 4}, {false, false, true}, {0, 2, 0, 0}},
      {"grid3d:size=3x2x4", {3, 2, 4}, {}, {0, 1, 0, 0}},
      {"ring:ranks=7", {1, 1, 7}, {true, true, true}, {0, 1, 0, 0}},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.spec);
    const std::string directed = test.spec.find(':') == std::string::npos ? ":directed=true" : ",directed=true";
    const Edges expected = plain_stencil(test.extents, test.periodic, test.weights);
    EXPECT_EQ(edges_of(graph_of(test.spec + directed)), expected);
    Edges halves = expected;
    for (auto& [pair, bytes] : halves) bytes /= 2;
    EXPECT_EQ(edges_of(graph_of(test.spec)), halves);
    EXPECT_TRUE(graph_of(test.spec).undirected());
  }
}

TEST(Stencils, HaveTheNumberOfEdgesOfTheFormula) {
  const CommGraph graph = graph_of("stencil3d:size=60x70x80");
  EXPECT_EQ(graph.edge_count(), 178U * 208U * 238U - 60U * 70U * 80U);
  EXPECT_FALSE(graph.has_messages());
  EXPECT_EQ(graph.total_messages(), static_cast<double>(graph.edge_count()) / 2);
}

TEST(Stencils, ABlockOfCellsGivesRealBytesInEachDirection) {
  const CommGraph graph = graph_of("stencil3d:size=2x2x2,block=4x5x6,halo=2,cell=8,iterations=3");
  EXPECT_FALSE(graph.undirected());
  EXPECT_THAT(graph.bytes(Rank{0}),
              ElementsAre(3 * 4 * 5 * 2 * 8, 3 * 4 * 6 * 2 * 8, 3 * 4 * 2 * 2 * 8, 3 * 5 * 6 * 2 * 8, 3 * 5 * 2 * 2 * 8,
                          3 * 6 * 2 * 2 * 8, 3 * 2 * 2 * 2 * 8));
  EXPECT_THAT(graph.messages(Rank{0}), ElementsAre(3, 3, 3, 3, 3, 3, 3));
}

TEST(Stencils, IterationsAreMessagesPerEdge) {
  const CommGraph graph = graph_of("stencil2d:size=3x3,iterations=10");
  EXPECT_EQ(graph.total_messages(), 12 * 10);
  EXPECT_EQ(graph.total_bytes(), 12 * 10 * 10);
}

TEST(Stencils, FindTheMostCubicGrid) {
  expect_equal(graph_of("stencil3d:ranks=1024"), graph_of("stencil3d:size=8x8x16"));
  expect_equal(graph_of("stencil3d:ranks=12"), graph_of("stencil3d:size=2x2x3"));
  expect_equal(graph_of("stencil3d:ranks=7"), graph_of("stencil3d:size=1x1x7"));
  expect_equal(graph_of("stencil2d:ranks=384"), graph_of("stencil2d:size=16x24"));
  EXPECT_EQ(graph_of("stencil3d:ranks=1").rank_count(), 1U);
}

TEST(Sweep, SendsOneMessagePerPlaneInBothDirections) {
  const CommGraph graph = graph_of("sweep:size=3x3,bytes=100,planes=5,iterations=2");
  EXPECT_FALSE(graph.undirected());
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}, Rank{3}));
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(1000, 1000));
  EXPECT_EQ(graph.total_messages(), 24 * 10);
}

TEST(ConjugateGradient, PairsRowsByBitsAndTransposes) {
  const CommGraph square = graph_of("cg:ranks=16,directed=true");
  EXPECT_THAT(square.targets(Rank{1}), ElementsAre(Rank{0}, Rank{3}, Rank{4}));
  EXPECT_THAT(square.bytes(Rank{1}), ElementsAre(101, 101, 100));
  EXPECT_EQ(square.degree(Rank{5}), 2U);            // on the diagonal
  const CommGraph oblong = graph_of("cg:ranks=8");  // 2 rows of 4
  EXPECT_THAT(oblong.targets(Rank{2}), ElementsAre(Rank{0}, Rank{3}, Rank{4}));
  EXPECT_THAT(oblong.bytes(Rank{2}), ElementsAre(50.5, 50.5, 50));
}

// Measured from NPB 3.3 CG, class W, 8 ranks: what rank 0 and rank 2 send.
TEST(ConjugateGradient, ClassesHaveTheMeasuredBytesAndMessages) {
  const CommGraph graph = graph_of("cg:class=W,ranks=8");
  EXPECT_EQ(graph.total_bytes(), 139886592);
  EXPECT_EQ(graph.total_messages(), 23552);
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{0}, Rank{1}, Rank{2}));
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(5824000, 5830912, 5830912));
  EXPECT_THAT(graph.messages(Rank{0}), ElementsAre(416, 1264, 1264));
  EXPECT_THAT(graph.targets(Rank{2}), ElementsAre(Rank{0}, Rank{3}, Rank{4}));
  EXPECT_THAT(graph.bytes(Rank{2}), ElementsAre(5830912, 5830912, 5824000));
}

TEST(RandomGeometric, LinksExactlyThePointsWithinTheRadius) {
  constexpr std::uint32_t ranks = 300;
  for (const double factor : {0.05, 1.0, 1.3, 20.0}) {
    Random random(9, static_cast<std::uint64_t>(Stream::structure));
    std::vector<std::array<double, 2>> points(ranks);
    for (auto& point : points)
      for (double& coordinate : point) coordinate = random.unit();
    const double radius = factor * 0.55 * std::sqrt(std::log(ranks) / ranks);
    Edges expected;
    for (std::uint32_t i = 0; i < ranks; ++i)
      for (std::uint32_t j = 0; j < ranks; ++j)
        if (i != j && std::hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]) < radius)
          expected[{i, j}] = 0.5;
    EXPECT_EQ(edges_of(graph_of("rggmesh:ranks=300,seed=9,radius=" + std::to_string(factor))), expected);
  }
}

TEST(RandomGeometric, WeightsAreSymmetricAndInRange) {
  const Edges edges = edges_of(graph_of("rgg:ranks=500,heaviest=4,directed"));
  std::set<double> seen;
  for (const auto& [pair, bytes] : edges) {
    seen.insert(bytes);
    EXPECT_EQ(bytes, edges.at({pair.second, pair.first}));
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4));
}

TEST(Blocks, AreHeavyInsideAndLightOutside) {
  const CommGraph graph = graph_of("blocks:ranks=100,group=12,shuffle=false,directed");
  double light = 0;
  for (const Rank r : graph.ranks()) {
    std::uint32_t inside = 0;
    for (std::size_t e = 0; e < graph.degree(r); ++e) {
      const bool same = index(r) / 12 == index(graph.targets(r)[e]) / 12;
      inside += same;
      EXPECT_EQ(graph.bytes(r)[e] == 100, same);
      if (!same) light += graph.bytes(r)[e];
    }
    EXPECT_EQ(inside, index(r) < 96 ? 11U : 3U);
  }
  EXPECT_GT(light, 0);
  EXPECT_LE(light, 9 * 3 * 5 * 2);
}

TEST(PowerLaw, HasAFewRanksOfHighDegree) {
  const CommGraph graph = graph_of("powerlaw:ranks=2000,links=4,weights=unit");
  EXPECT_EQ(graph.edge_count(), 2 * (10 + 1995 * 4));
  std::vector<std::size_t> degrees;
  for (const Rank r : graph.ranks()) degrees.push_back(graph.degree(r));
  std::sort(degrees.begin(), degrees.end());
  EXPECT_EQ(degrees.front(), 4U);
  EXPECT_LE(degrees[1000], 6U);
  EXPECT_GT(degrees.back(), 60U);
}

TEST(RandomGraph, HasTheRequestedDegreeAndUnitWeights) {
  const CommGraph graph = graph_of("random:ranks=5000,degree=6");
  EXPECT_LE(graph.edge_count(), 30000U);
  EXPECT_GE(graph.edge_count(), 29900U);  // a few were drawn twice or fell on themselves
  for (const double bytes : graph.rows().bytes) ASSERT_EQ(bytes, 0.5);
}

TEST(AllToAll, IsOneCollectiveOrAllPairs) {
  const Profile symbolic = made("alltoall:ranks=10,bytes=1k,iterations=3");
  EXPECT_EQ(symbolic.point_to_point.edge_count(), 0U);
  ASSERT_EQ(symbolic.collectives.size(), 1U);
  const Profile expanded = made("alltoall:ranks=10,bytes=1k,iterations=3,expanded");
  EXPECT_TRUE(expanded.collectives.empty());
  EXPECT_EQ(expanded.point_to_point.total_bytes(), 10 * 9 * 3000);
  EXPECT_EQ(expanded.point_to_point.total_messages(), 10 * 9 * 3);
  expect_equal(traffic(symbolic, CollectiveModel::tree), expanded.point_to_point);
}

// The example of the paper: two groups of six, the link used in every third iteration.
TEST(Groups, LinkTheLastOfOneGroupWithTheFirstOfTheNext) {
  const Profile profile = made("groups:groups=2,per-group=6,bytes=100,between=7,skip=2,iterations=8,shuffle=false");
  const CommGraph& links = profile.point_to_point;
  EXPECT_EQ(edges_of(links), (Edges{{{5, 6}, 14}, {{6, 5}, 14}}));
  EXPECT_EQ(links.total_messages(), 4);
  ASSERT_EQ(profile.collectives.size(), 2U);
  EXPECT_EQ(profile.communicators[1].members.front(), Rank{6});
  const CommGraph all = traffic(profile, CollectiveModel::logical);
  EXPECT_EQ(all.total_bytes(), 2 * 6 * 5 * 100 * 8 + 28);
  EXPECT_EQ(all.bytes(Rank{11})[0], 800);
}

TEST(Groups, AreShuffledByDefault) {
  const Profile profile = made("groups:groups=4,per-group=5");
  std::vector<Rank> all;
  for (const Communicator& group : profile.communicators)
    all.insert(all.end(), group.members.begin(), group.members.end());
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (std::uint32_t r = 0; r < 20; ++r) EXPECT_EQ(all[r], Rank{r});
}

const Communicator& communicator(const Profile& profile, std::string_view name) {
  const auto found = std::find_if(profile.communicators.begin(), profile.communicators.end(),
                                  [&](const Communicator& c) { return c.name == name; });
  EXPECT_NE(found, profile.communicators.end()) << name;
  return *found;
}

std::vector<Collective> calls_on(const Profile& profile, std::string_view name) {
  std::vector<Collective> calls;
  for (const Collective& call : profile.collectives)
    if (profile.communicators[call.communicator].name == name) calls.push_back(call);
  return calls;
}

TEST(LanguageModel, NumbersTensorRanksFirstThenDataThenPipeline) {
  const Profile profile = made("llm:tp=2,pp=2,dp=4,ep=2,layers=4");
  EXPECT_EQ(profile.rank_count(), 16U);
  EXPECT_THAT(communicator(profile, "tp1").members, ElementsAre(Rank{2}, Rank{3}));
  EXPECT_THAT(communicator(profile, "dp1").members, ElementsAre(Rank{1}, Rank{3}, Rank{5}, Rank{7}));
  EXPECT_THAT(communicator(profile, "dp2").members, ElementsAre(Rank{8}, Rank{10}, Rank{12}, Rank{14}));
  EXPECT_THAT(communicator(profile, "ep0").members, ElementsAre(Rank{0}, Rank{2}));
  EXPECT_THAT(communicator(profile, "ep2").members, ElementsAre(Rank{4}, Rank{6}));
  EXPECT_THAT(communicator(profile, "edp0").members, ElementsAre(Rank{0}, Rank{4}));
  EXPECT_THAT(profile.point_to_point.targets(Rank{3}), ElementsAre(Rank{11}));
  EXPECT_THAT(profile.point_to_point.targets(Rank{11}), ElementsAre(Rank{3}));
}

TEST(LanguageModel, PartsOfAStepArePhasesThatAddUpToIt) {
  const Profile profile = made("llm:tp=2,pp=2,cp=2,dp=4,ep=2,layers=4");
  std::vector<std::string> names;
  double messages = 0, bytes = 0;
  const auto total = [](const std::vector<Collective>& calls) {
    double sum = 0;
    for (const Collective& call : calls) sum += call.count * call.bytes;
    return sum;
  };
  for (const Phase& phase : profile.phases) {
    names.push_back(phase.name);
    messages += phase.point_to_point.total_messages();
    bytes += total(phase.collectives) + phase.point_to_point.total_bytes();
    EXPECT_EQ(phase.begin, phase.end) << "a pattern has no times";
  }
  EXPECT_THAT(names, ElementsAre("tensor", "context", "experts", "pipeline", "gradients"));
  EXPECT_DOUBLE_EQ(messages, profile.point_to_point.total_messages());
  EXPECT_DOUBLE_EQ(bytes, total(profile.collectives) + profile.point_to_point.total_bytes());
  EXPECT_TRUE(made("llm:tp=1,pp=1,dp=8,layers=2").phases.empty()) << "gradients alone";
}

TEST(LanguageModel, VolumesFollowTheDocumentedFormulas) {
  const Profile profile = made(
      "llm:tp=2,pp=2,dp=4,layers=5,hidden=10,sequence=20,vocabulary=100,micro-batches=3,micro-batch-size=2,"
      "distributed-optimizer=false");
  const double activation = 20 * 2 * 10 * 2;
  EXPECT_THAT(profile.point_to_point.bytes(Rank{0}), ElementsAre(3 * activation));
  EXPECT_THAT(profile.point_to_point.messages(Rank{0}), ElementsAre(3));
  const auto first = calls_on(profile, "tp0");  // three layers and the embedding
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].op, CollectiveOp::allreduce);
  EXPECT_EQ(first[0].bytes, activation);
  EXPECT_EQ(first[0].count, 3 * (4 * 3 + 1));
  const auto last = calls_on(profile, "tp4");  // two layers, the output, and the loss
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].count, 3 * (4 * 2 + 1));
  EXPECT_EQ(last[1].bytes, 20 * 2 * 4);
  const auto gradients = calls_on(profile, "dp0");
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_EQ(gradients[0].bytes, (3 * 12 * 10 * 10 + 100 * 10) / 2.0 * 4);
}

TEST(LanguageModel, TheDistributedOptimizerSendsTheVolumeOfARing) {
  const Profile profile = made("llm:tp=1,pp=1,dp=8,layers=2,hidden=16,vocabulary=64,gradient-bytes=4,number-bytes=4");
  const double parameters = 2 * 12 * 16 * 16 + 2 * 64 * 16;
  for (const CollectiveModel model : {CollectiveModel::logical, CollectiveModel::tree})
    EXPECT_EQ(traffic(profile, model).total_bytes(), 8 * 2 * 7.0 / 8 * parameters * 4);
}

TEST(LanguageModel, ExpertsExchangeTokensAndReduceGradients) {
  const Profile profile = made(
      "llm:tp=2,pp=1,dp=4,ep=2,experts=8,top=2,layers=3,hidden=10,ffn=30,sequence=20,vocabulary=100,micro-batches=5,"
      "distributed-optimizer=false");
  const auto tokens = calls_on(profile, "ep0");
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].op, CollectiveOp::alltoall);
  EXPECT_EQ(tokens[0].bytes, 20 / 2 * 2 * 10 * 2 / 2);
  EXPECT_EQ(tokens[0].count, 5 * 4 * 3);
  EXPECT_EQ(calls_on(profile, "dp0")[0].bytes, (3 * 4 * 10 * 10 + 2 * 100 * 10) / 2 * 4);
  EXPECT_EQ(calls_on(profile, "edp0")[0].bytes, 3 * (2 * 10 * 30) * (8 / 2) / 2 * 4);
}

TEST(LanguageModel, SequenceParallelRanksExchangeParts) {
  const Profile profile = made("llm:tp=4,pp=3,dp=1,layers=6,hidden=8,sequence=16,micro-batches=1,sequence-parallel");
  const double activation = 16 * 8 * 2;
  EXPECT_THAT(profile.point_to_point.bytes(Rank{0}), ElementsAre(activation / 4));
  const auto calls = calls_on(profile, "tp1");  // neither first nor last
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].op, CollectiveOp::allgather);
  EXPECT_EQ(calls[0].bytes, activation / 4);
  EXPECT_EQ(calls[0].count, 6 * 2);
  EXPECT_EQ(calls[1].op, CollectiveOp::reduce_scatter);
  EXPECT_EQ(calls[1].count, 4 * 2);
}

TEST(Generate, HintsListTheAlternatives) {
  EXPECT_THAT(error_of("stencil4d").hint, HasSubstr("stencil3d"));
  EXPECT_THAT(error_of("").hint, HasSubstr("stencil3d"));
  EXPECT_THAT(error_of("ring:length=3").hint, HasSubstr("ranks"));
  EXPECT_EQ(error_of("ring:ranks=0").code, Code::usage);
}

TEST(Generate, RejectsInvalidGrids) {
  for (const std::string size : {"", "4", "4x", "4x4x4", "0x4", "-1x4", "4x4y", "ax4", "4xx4", "99999999999x2"})
    EXPECT_EQ(error_of("stencil2d:size=" + size).code, Code::usage) << size;
  EXPECT_THAT(error_of("stencil3d:size=65536x65536x2").hint, HasSubstr("at most"));
  EXPECT_THAT(error_of("stencil2d:size=4x4,ranks=17").hint, HasSubstr("only one"));
  EXPECT_THAT(error_of("stencil2d:periodic=z").hint, HasSubstr("xy"));
  EXPECT_THAT(error_of("stencil3d:block=2x2x2,halo=3").where.source, "--halo");
}

TEST(Generate, RejectsInconsistentDegrees) {
  EXPECT_EQ(error_of("llm:dp=4,ep=3").where.source, "--ep");
  EXPECT_EQ(error_of("llm:dp=4,ep=4,experts=6").where.source, "--experts");
  EXPECT_EQ(error_of("llm:pp=8,layers=4").where.source, "--pp");
  EXPECT_EQ(error_of("llm:tp=100000,dp=100000").code, Code::usage);
  EXPECT_EQ(error_of("groups:groups=100000,per-group=100000").code, Code::usage);
  EXPECT_THAT(error_of("cg:ranks=24").hint, HasSubstr("16 or 32"));
}

TEST(Generate, RejectsPatternsLargerThanMemory) {
  for (const std::string spec : {"alltoall:ranks=2000000000,expanded", "random:ranks=2000000000,degree=1000000",
                                 "powerlaw:ranks=2000000000,links=1000000", "rgg:ranks=2000000000,radius=1000000",
                                 "blocks:ranks=2000000000,group=2000000000"})
    EXPECT_EQ(error_of(spec).code, Code::environment) << spec;
}

TEST(Generate, AcceptsDegenerateSizes) {
  for (const GeneratorInfo& info : generators()) {
    const Pattern pattern(info);
    if (pattern.options().find("ranks") == nullptr) continue;
    EXPECT_EQ(traffic(made(std::string(info.name) + ":ranks=1"), CollectiveModel::tree).edge_count(), 0U) << info.name;
    EXPECT_EQ(made(std::string(info.name) + ":ranks=2").rank_count(), 2U) << info.name;
  }
  EXPECT_EQ(traffic(made("llm:tp=1,pp=1,dp=1"), CollectiveModel::tree).edge_count(), 0U);
  EXPECT_EQ(traffic(made("groups:groups=1,per-group=1"), CollectiveModel::tree).edge_count(), 0U);
}

TEST(Loads, AreIntegersForEveryPattern) {
  for (const std::string pattern : {"zipf", "heavy", "bimodal", "random"}) {
    const auto profile = generate("ring:ranks=40,loads=" + pattern);
    ASSERT_TRUE(profile);
    const auto loads = profile->point_to_point.loads();
    ASSERT_EQ(loads.size(), 40u) << pattern;
    for (const double load : loads) EXPECT_TRUE(load >= 1 && load == std::floor(load)) << pattern;
    EXPECT_GE(*std::max_element(loads.begin(), loads.end()), 10) << pattern;
  }
  EXPECT_TRUE(generate("ring:ranks=40")->point_to_point.loads().empty());
}

TEST(Loads, DependOnTheSeed) {
  const auto loads = [](const char* spec) {
    const auto profile = generate(spec);
    return std::vector<double>(profile->point_to_point.loads().begin(), profile->point_to_point.loads().end());
  };
  EXPECT_EQ(loads("ring:ranks=40,loads=zipf,seed=1"), loads("ring:ranks=40,loads=zipf,seed=1"));
  EXPECT_NE(loads("ring:ranks=40,loads=zipf,seed=1"), loads("ring:ranks=40,loads=zipf,seed=2"));
}

}  // namespace
}  // namespace rankloom
