// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` on networks (suite N): patterns of 512 and 4,096 ranks on tori of 2 to 6 dimensions, a mesh, a
// dragonfly and a fat tree, with one and with several cores per node, and measured applications on a torus of 64 nodes,
// compared with Scotch in the same run; grids that fit a torus; the largest link load under `congestion`.
//
//   bench_auto_networks [PROGRAMS] [--only PART OF A NAME] [--large]
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/discover/discover.hpp"

using namespace rankloom;
using namespace rankloom::bench;

namespace {

struct Suite {
  std::vector<const char*> patterns, machines;
};

const Suite small{{"rgg:ranks=512", "powerlaw:ranks=512", "blocks:ranks=512", "stencil2d:size=32x16,shuffle",
                   "stencil2d:size=32x16", "stencil3d:size=8x8x8,shuffle", "cg:ranks=512", "sweep:size=32x16"},
                  {"torus:8x8x8=1", "torus:4x4x4=3 core:8=1", "torus:16x32=1", "mesh:32x16=1", "torus:4x4x4x8=1",
                   "torus:2x2x4x4x8=1", "torus:2x4x4x2x4x2=1", "torus:4x3x3=3 core:16=1", "torus:4x3=3 core:48=1",
                   "dragonfly:8,4,4=3 core:4=1", "fattree:4,8/1,2=3 core:16=1"}};
const Suite medium{
    {"rgg:ranks=4096", "powerlaw:ranks=4096", "stencil2d:size=64x64,shuffle", "stencil3d:size=16x16x16,shuffle"},
    {"torus:16x16x16=1", "torus:8x8x8=3 core:8=1", "torus:64x64=1", "dragonfly:16,8,4=3 core:8=1"}};
const Suite large{{"rgg:ranks=32768", "stencil3d:size=32x32x32,shuffle"},
                  {"torus:32x32x32=1", "torus:16x16x16=3 core:8=1"}};
constexpr const char* applications[] = {"bt.A.64",
                                        "cg.A.128",
                                        "ep.A.64",
                                        "lu.A.64",
                                        "mg.A.64",
                                        "sp.A.144",
                                        "openfoam.cavity3d.64",
                                        "openfoam.cavity3d-simple.64"};

/// Grids whose embedding has one hop per edge.
constexpr struct {
  const char *pattern, *machine;
} embeddable[] = {{"stencil2d:size=32x16,shuffle", "torus:16x32=1"},
                  {"stencil3d:size=8x8x8,points=7,shuffle", "torus:8x8x8=1"},
                  {"stencil3d:size=16x8x4,points=7", "torus:4x16x8=1"},
                  {"stencil2d:size=64x8,shuffle", "torus:8x8x8=1"},
                  {"stencil2d:size=64x64,shuffle", "mesh:64x64=1"},
                  {"stencil3d:size=64x32x32,points=7,shuffle", "torus:32x64x32=1"}};

Problem problem_of(std::string name, CommGraph graph, const std::string& machine) {
  Topology topology = *load_topology(machine);
  Capacities capacities = *Capacities::of(topology, graph.rank_count(), {});
  return {std::move(name), std::move(graph), std::move(topology), std::move(capacities)};
}

CommGraph generated(const char* pattern) {
  return traffic(*generate(pattern), CollectiveModel::tree);
}

double congestion(const Problem& problem, const std::optional<Measured>& measured) {
  return evaluate(problem.graph, problem.machine, measured->core_of, CostModel::congestion);
}

/// The placement of `auto` under the model congestion.
std::vector<Core> place_by_congestion(const Problem& problem) {
  MapProblem view = problem.view();
  view.model = CostModel::congestion;
  return make_mapper("auto")->mapper->place(view, MapRun{})->core_of;
}

void compare(const Problem& problem, bool with_congestion, Gathered& gathered) {
  const auto scotch = measure("scotch", problem), fast = measure("auto:effort=fast", problem),
             balanced = measure("auto", problem);
  fmt::print("{:<62} {:>8} {:>8} {:>9} {:>8}\n", problem.name, cell(ratio(fast, scotch)),
             cell(time_ratio(fast, scotch), 2), cell(ratio(balanced, scotch)), cell(time_ratio(balanced, scotch), 1));
  std::fflush(stdout);
  gathered.note("fast", ratio(fast, scotch));
  gathered.note("fast time", time_ratio(fast, scotch));
  gathered.note("balanced", ratio(balanced, scotch));
  gathered.note("balanced time", time_ratio(balanced, scotch));
  if (!with_congestion || !scotch || !balanced) return;
  const double found = evaluate(problem.graph, problem.machine, place_by_congestion(problem), CostModel::congestion);
  gathered.note("congestion", found / congestion(problem, scotch));
  gathered.note("congestion", found / congestion(problem, balanced));
}

/// The cost over the bytes, which is 1 with one hop per edge.
double hops_per_edge(const Problem& problem, const std::vector<Core>& core_of) {
  double bytes = 0;
  for (const Rank rank : problem.graph.ranks()) {
    for (const double edge : problem.graph.bytes(rank)) bytes += edge;
  }
  return evaluate(problem.graph, problem.machine, core_of, CostModel::bytes) / bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const ThreadLimit one_thread(1);
  const Arguments arguments(argc, argv);
  const std::string only = arguments.value("--only");
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  Gathered gathered;
  fmt::print("cost and CPU time relative to Scotch, one thread\n{:<62} {:>8} {:>8} {:>9} {:>8}\n", "problem", "fast",
             "time", "balanced", "time");
  std::vector<const Suite*> suites{&small, &medium};
  if (arguments.has("--large")) suites.push_back(&large);
  for (const Suite* const suite : suites) {
    for (const char* const pattern : suite->patterns) {
      for (const char* const machine : suite->machines) {
        const std::string name = fmt::format("{} on {}", pattern, machine);
        if (wanted(name)) compare(problem_of(name, generated(pattern), machine), suite == &small, gathered);
      }
    }
  }
  for (const char* const application : applications) {
    auto imported = import_profile(*read_file(fmt::format("{}/matrices/{}.txt", RANKLOOM_TEST_DATA, application)));
    CommGraph graph = traffic(std::move(imported->profile), CollectiveModel::tree);
    const std::string machine = fmt::format("torus:4x4x4=3 core:{}=1", (graph.rank_count() + 63) / 64);
    const std::string name = fmt::format("{} on {}", application, machine);
    if (wanted(name)) compare(problem_of(name, std::move(graph), machine), false, gathered);
  }
  for (const auto& [pattern, machine] : embeddable) {
    const std::string name = fmt::format("{} on {}", pattern, machine);
    if (!wanted(name)) continue;
    const Problem problem = problem_of(name, generated(pattern), machine);
    const auto fast = measure("auto:effort=fast", problem);
    gathered.note("hops", fast ? std::optional(hops_per_edge(problem, fast->core_of)) : std::nullopt);
  }
  fmt::print("\n");
  constexpr double rounding = 1e-9;
  Goals goals;
  goals.at_most("fast: cost / Scotch, geometric mean", gathered.mean("fast"), 0.95, 0.88);
  goals.at_most("fast: cost / Scotch, worst", gathered.worst("fast"), 1.02, 1);
  goals.at_most("fast: time / Scotch, geometric mean", gathered.mean("fast time"), 2, 1);
  goals.at_most("balanced: cost / Scotch, geometric mean", gathered.mean("balanced"), 0.88, 0.8);
  goals.at_most("balanced: cost / Scotch, worst", gathered.worst("balanced"), 1, 1);
  goals.at_most("balanced: time / Scotch, geometric mean", gathered.mean("balanced time"), 30, 10);
  goals.at_most("grids that fit: hops per edge, worst", gathered.worst("hops"), 1 + rounding, 1 + rounding);
  goals.at_most("congestion / that of Scotch and of bytes, geometric mean", gathered.mean("congestion"), 0.8, 0.65);
  goals.at_most("congestion / that of Scotch and of bytes, worst", gathered.worst("congestion"), 1, 1);
  return finish("auto_networks", goals.reached(), goals.sentence(), {{"goals", goals.figures()}});
}
