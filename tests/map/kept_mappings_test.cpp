// SPDX-License-Identifier: Apache-2.0
// The same problem and seed give the same mapping on every architecture: every mapper of this project is compared with
// the mappings in tests/data/mappings.txt, which hold for x86-64 and aarch64. Mappers of external libraries are
// not: their versions differ.
//
// After a change that is meant to change mappings:
//   RANKLOOM_KEEP_MAPPINGS=tests/data/mappings.txt build/bin/map_tests --gtest_filter='*KeptMappings*'
// adds the new lines at the end of the file; remove the old ones.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

struct NamedProblem {
  std::string name;
  OwnedProblem problem;
};

/// Measured and regular traffic (grids have multiple eigenvalues), weights with fractions, small and large enough for
/// every solver, one rank and several ranks per core.
const std::vector<NamedProblem>& problems() {
  static const std::vector<NamedProblem> list = [] {
    const char* const cluster = "switch:3=4.1 node:3=3.7 core:16=1";
    CommGraph with_fractions = testing::random_graph(96, 0.1, 5);
    CommGraphBuilder scaled(96);
    for (const Rank rank : with_fractions.ranks()) {
      for (std::size_t edge = 0; edge < with_fractions.degree(rank); ++edge)
        scaled.add(rank, with_fractions.targets(rank)[edge], with_fractions.bytes(rank)[edge] / 7);
    }
    std::vector<NamedProblem> all;
    all.push_back({"cg.W.8", make_problem(testing::measured("cg.W.8", 8), topology("node:2=10,1us core:4=1,100ns"),
                                          CostModel::time)});
    all.push_back({"sp.A.144", make_problem(testing::measured("sp.A.144", 144), topology(cluster))});
    all.push_back({"cg.A.128", make_problem(testing::measured("cg.A.128", 128), topology("torus:4x4x2=3 core:4=1"),
                                            CostModel::hopbytes)});
    all.push_back({"openfoam.64",
                   make_problem(testing::measured("openfoam.cavity3d.64", 64),
                                topology("node:4=10,1.3us package:2=3.3,300ns core:8=1.1,70ns"), CostModel::time)});
    all.push_back({"grid-144", make_problem(testing::shuffled_grid(12, 12, 3), topology(cluster))});
    all.push_back({"grid-324", make_problem(testing::shuffled_grid(18, 18, 4), topology("node:18=9 core:18=1"))});
    all.push_back(
        {"fractions-96", make_problem(std::move(scaled).build(true), topology("switch:4=7.3 node:2=3.1 core:12=1.7"))});
    CommGraph::Rows with_loads = testing::random_graph(96, 0.05, 6).release();
    Random random(7);
    for (std::uint32_t rank = 0; rank < 96; ++rank) with_loads.loads.push_back(0.5 + random.unit());
    all.push_back({"shared-96", make_problem(CommGraph(std::move(with_loads)), topology("node:3=10 core:4=1"),
                                             CostModel::bytes, {.oversubscribe = true, .imbalance = 0.25})});
    return all;
  }();
  return list;
}

/// A short text for a whole mapping.
std::string digest(std::span<const Core> core_of) {
  std::uint64_t value = core_of.size();
  for (const Core core : core_of) value = mix(value ^ index(core));
  return fmt::format("{:016x}", value);
}

/// Lines "mapper problem cost digest".
const std::map<std::string, std::string>& kept() {
  static const std::map<std::string, std::string> lines = [] {
    std::map<std::string, std::string> all;
    std::ifstream file(RANKLOOM_TEST_DATA "/mappings.txt");
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream tokens(line);
      std::string mapper, problem, cost, mapping;
      tokens >> mapper >> problem >> cost >> mapping;
      all[mapper + " " + problem] = cost + " " + mapping;
    }
    return all;
  }();
  return lines;
}

std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const MapperInfo& info : mappers()) {
    if (info.name == "scotch" || info.name == "metis") continue;
    const auto mapper = info.make();
    OptionList options;
    mapper->describe(options);
    const Option* const effort = options.find("effort");
    if (effort == nullptr) {
      all.emplace_back(info.name);
      continue;
    }
    for (const std::string& choice : effort->choices) {
      // The same search as `balanced`, for longer than a unit test should take.
      if (choice != "best") all.push_back(std::string(info.name) + ":effort=" + choice);
    }
  }
  return all;
}

class KeptMappings : public ::testing::TestWithParam<std::string> {};

TEST_P(KeptMappings, AreFoundOnEveryArchitecture) {
  const char* const keep = std::getenv("RANKLOOM_KEEP_MAPPINGS");
  for (const auto& [name, problem] : problems()) {
    if (GetParam() == "mpipp" && problem.graph.rank_count() > 64) continue;  // takes up to half a minute
    auto configured = testing::mapper(GetParam());
    OptionList options;
    configured.mapper->describe(options);
    if (options.find("tries") != nullptr) {
      ASSERT_TRUE(options.set("tries", "20000", configured.info->name));
    }
    MapRun run;
    run.seed = 1;
    const auto result = run_mapper(configured, problem.view(), run, {.keep_worse = true});
    if (!result) {  // a problem that is too large for the mapper
      EXPECT_EQ(result.error().code, Code::infeasible) << to_string(result.error());
      continue;
    }
    const std::string key = GetParam() + " " + name;
    const std::string found = fmt::format("{:.17g} {}", result->cost, digest(result->mapping.cores()));
    if (keep != nullptr) {
      std::ofstream(keep, std::ios::app) << key << ' ' << found << '\n';
      continue;
    }
    const auto expected = kept().find(key);
    ASSERT_NE(expected, kept().end()) << "add to tests/data/mappings.txt: " << key << ' ' << found;
    EXPECT_EQ(found, expected->second) << key;
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& spec) {
  std::string name = spec.param;
  for (char& c : name) {
    if (c == '-' || c == ':' || c == '=') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, KeptMappings, ::testing::ValuesIn(specs()), test_name);

}  // namespace
}  // namespace rankloom
