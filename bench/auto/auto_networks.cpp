// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` on networks (suite N): patterns of 512 and 4,096 ranks on tori of 2 to 6 dimensions, a mesh, a
// dragonfly and a fat tree, with one and with several cores per node, and measured applications on a torus of 64 nodes,
// compared with Scotch in the same run; grids that fit a torus; the largest link load under `congestion`.
//
//   bench_auto_networks [PROGRAMS] [--only PART OF A NAME] [--large] [--other] [--without balanced|congestion]
//   bench_auto_networks [PROGRAMS] [--only PART OF A NAME] --simulate
//   bench_auto_networks [PROGRAMS] [--only PART OF A NAME] --tasks
//   bench_auto_networks --pattern PATTERN --machine MACHINE
//
// --simulate: the times of the patterns of 512 ranks in SimGrid, under `auto` with its own goal, Scotch and block.
// --tasks: many tasks per core, compared with Scotch and METIS, and the growth of the time with the number of ranks.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/mesh_instances.hpp"
#include "bench/system/simulated.hpp"
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
/// Seeds, shapes and numbers of ranks that are not in the suites above.
const Suite other{{"rgg:ranks=420,seed=7", "rgg:ranks=315,seed=3", "powerlaw:ranks=420,seed=5",
                   "blocks:ranks=420,seed=9", "blocks:ranks=192,seed=2", "cg:ranks=256", "cg:ranks=128",
                   "stencil2d:size=20x21,shuffle", "stencil3d:size=7x6x10,shuffle", "sweep:size=14x12"},
                  {"torus:6x10x8=1", "torus:5x7x3=3 core:4=1", "mesh:20x24=1", "mesh:10x12=3 core:4=1",
                   "dragonfly:6,6,3=3 core:4=1", "dragonfly:8,8,4=3 core:2=1", "fattree:6,7/1,3=3 core:12=1",
                   "fattree:4,4,4/1,2,2=3 core:8=1", "torus:3x5x2x7x2=1"}};
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

/// What is measured besides `fast`.
struct Parts {
  bool balanced, congestion;
};

void compare(const Problem& problem, const Parts& parts, Gathered& gathered) {
  const auto scotch = measure("scotch", problem), fast = measure("auto:effort=fast", problem);
  const auto balanced = parts.balanced ? measure("auto", problem) : std::nullopt;
  fmt::print("{:<62} {:>8} {:>8} {:>9} {:>8}", problem.name, cell(ratio(fast, scotch)),
             cell(time_ratio(fast, scotch), 2), cell(ratio(balanced, scotch)), cell(time_ratio(balanced, scotch), 1));
  std::fflush(stdout);
  gathered.note("fast", ratio(fast, scotch));
  gathered.note("fast time", time_ratio(fast, scotch));
  if (parts.balanced) {
    gathered.note("balanced", ratio(balanced, scotch));
    gathered.note("balanced time", time_ratio(balanced, scotch));
  }
  if (parts.congestion && scotch && balanced) {
    const double found = evaluate(problem.graph, problem.machine, place_by_congestion(problem), CostModel::congestion);
    const double to_scotch = found / congestion(problem, scotch), to_bytes = found / congestion(problem, balanced);
    fmt::print(" {:>8} {:>8}", cell(to_scotch), cell(to_bytes));
    gathered.note("congestion", to_scotch);
    gathered.note("congestion", to_bytes);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

/// The cost over the bytes, which is 1 with one hop per edge.
double hops_per_edge(const Problem& problem, const std::vector<Core>& core_of) {
  double bytes = 0;
  for (const Rank rank : problem.graph.ranks()) {
    for (const double edge : problem.graph.bytes(rank)) bytes += edge;
  }
  return evaluate(problem.graph, problem.machine, core_of, CostModel::bytes) / bytes;
}

/// The machine with rates: `torus:8x8x8=1` and `torus:4x4x4=3 core:8=1` are given by relative costs.
std::string with_rates(std::string machine) {
  machine.resize(machine.rfind('='));
  constexpr std::string_view network = "=4GB/s,500ns";
  const auto end_of_network = machine.find('=');
  if (end_of_network == std::string::npos) return fmt::format("{}{}", machine, network);
  const std::string cores = machine.substr(machine.find(' '));
  return fmt::format("{}{}{}=12GB/s,200ns", machine.substr(0, end_of_network), network, cores);
}

/// Block, Scotch and `auto`, which minimises the predicted time.
int compare_simulated_times(const std::string& simulator, const std::string& only) {
  constexpr std::uint32_t iterations = 4;
  fmt::print("simulated time of the communication\n{:<62} {:>14} {:>14}\n", "problem", "auto / Scotch", "auto / block");
  Gathered gathered;
  for (const char* const pattern : small.patterns) {
    for (const char* const machine : small.machines) {
      Problem problem = problem_of(fmt::format("{} on {}", pattern, machine), generated(pattern), with_rates(machine));
      if (problem.name.find(only) == std::string::npos) continue;
      std::vector<std::vector<Core>> placements;
      for (const char* const mapper : {"block", "scotch", "auto"}) {
        MapProblem view = problem.view();
        if (mapper == std::string_view("auto")) view.model = CostModel::predicted;
        placements.push_back(make_mapper(mapper)->mapper->place(view, MapRun{})->core_of);
      }
      const auto times = simulate_placements(*generate(pattern), problem.machine, placements, simulator, iterations);
      const auto& seconds = times ? times->seconds : std::vector<double>{};
      const auto to = [&](std::size_t mapper) {
        return times ? std::optional(seconds.back() / seconds[mapper]) : std::nullopt;
      };
      fmt::print("{:<62} {:>14} {:>14}\n", problem.name, cell(to(1)), cell(to(0)));
      std::fflush(stdout);
      gathered.note("scotch", to(1));
      gathered.note("block", to(0));
    }
  }
  fmt::print("\n");
  Goals goals;
  goals.at_most("simulated time of auto / Scotch, geometric mean", gathered.mean("scotch"), 0.9, 0.8);
  goals.at_most("simulated time of auto / block, worst", gathered.worst("block"), 1.02, 1);
  return finish("auto_networks", goals.reached(), goals.sentence(), {{"goals", goals.figures()}});
}

int compare_tasks(const std::string& only) {
  fmt::print(
      "many tasks per core, imbalance 3 %: cost and CPU time of `fast` relative to the cheaper of Scotch and METIS\n"
      "{:<44} {:>8} {:>8} {:>8}\n",
      "problem", "cost", "time", "than");
  Gathered gathered;
  for (const unsigned power : {16U, 18U, 20U}) {
    for (const char* const kind : {"rggmesh", "grid3d"}) {
      for (const char* const machine :
           {"torus:8x8x4=1", "torus:16x16=1", "torus:4x4x4=3 core:8=1", "dragonfly:8,4,4=3 core:2=1"}) {
        const Problem problem = mesh_problem({.kind = kind, .power = power, .machine = machine}, 1);
        const std::string name = fmt::format("{} 2^{} on {}", kind, power, machine);
        if (name.find(only) == std::string::npos) continue;
        const auto fast = measure("auto:effort=fast", problem), scotch = measure("scotch", problem),
                   metis = measure("metis:cuts=1", problem);
        const bool is_scotch = scotch && metis && scotch->cost < metis->cost;
        const auto& best = is_scotch ? scotch : metis;
        fmt::print("{:<44} {:>8} {:>8} {:>8}\n", name, cell(ratio(fast, best)), cell(time_ratio(fast, best), 2),
                   is_scotch ? "Scotch" : "METIS");
        std::fflush(stdout);
        gathered.note("cost", ratio(fast, best));
        gathered.note("time", time_ratio(fast, best));
      }
    }
  }
  const auto seconds_per_edge = [](unsigned power, const char* machine) -> std::optional<double> {
    const Problem problem = problem_of("growth", generated(fmt::format("rgg:ranks={}", 1U << power).c_str()), machine);
    const auto fast = measure("auto:effort=fast", problem);
    if (!fast) return std::nullopt;
    return fast->cpu_s / static_cast<double>(problem.graph.edge_count());
  };
  std::optional<double> growth;
  if (only.empty() || only == "growth") {
    const auto many = seconds_per_edge(20, "torus:128x128x64=1"), few = seconds_per_edge(13, "torus:32x16x16=1");
    if (many && few) growth = *many / *few;
  }
  fmt::print("\n");
  Goals goals;
  goals.at_most("many tasks per core: cost / the better of Scotch and METIS", gathered.mean("cost"), 0.95, 0.9);
  goals.at_most("many tasks per core: CPU time / that of the better one", gathered.mean("time"), 2, 1);
  goals.at_most("CPU time per edge, 2^20 ranks on a torus / 2^13", growth, 2, 1.2);
  return finish("auto_networks", goals.reached(), goals.sentence(), {{"goals", goals.figures()}});
}

}  // namespace

int main(int argc, char** argv) {
  const ThreadLimit one_thread(1);
  const Arguments arguments(argc, argv);
  const std::string only = arguments.value("--only");
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  if (arguments.has("--tasks")) return compare_tasks(only);
  if (arguments.has("--simulate"))
    return compare_simulated_times(fmt::format("{}/rankloom-simulate", argc > 1 ? argv[1] : "build/bin"), only);
  Gathered gathered;
  const std::string without = arguments.value("--without");
  const Parts parts{.balanced = without != "balanced", .congestion = without.empty()};
  const Parts no_congestion{.balanced = parts.balanced, .congestion = false};
  fmt::print(
      "cost and CPU time relative to Scotch, one thread; congestion relative to that of Scotch and of `auto` for "
      "bytes\n"
      "{:<62} {:>8} {:>8} {:>9} {:>8} {:>17}\n",
      "problem", "fast", "time", "balanced", "time", "congestion");
  if (const std::string pattern = arguments.value("--pattern"), machine = arguments.value("--machine");
      !pattern.empty()) {
    compare(problem_of(fmt::format("{} on {}", pattern, machine), generated(pattern.c_str()), machine), parts,
            gathered);
    return 0;
  }
  std::vector<const Suite*> suites{&small, &medium};
  if (arguments.has("--large")) suites.push_back(&large);
  if (arguments.has("--other")) suites = {&other};
  for (const Suite* const suite : suites) {
    for (const char* const pattern : suite->patterns) {
      for (const char* const machine : suite->machines) {
        const std::string name = fmt::format("{} on {}", pattern, machine);
        if (!wanted(name)) continue;
        compare(problem_of(name, generated(pattern), machine), suite == &small ? parts : no_congestion, gathered);
      }
    }
  }
  if (arguments.has("--other")) return 0;
  for (const char* const application : applications) {
    auto imported = import_profile(*read_file(fmt::format("{}/matrices/{}.txt", RANKLOOM_TEST_DATA, application)));
    CommGraph graph = traffic(std::move(imported->profile), CollectiveModel::tree);
    const std::string machine = fmt::format("torus:4x4x4=3 core:{}=1", (graph.rank_count() + 63) / 64);
    const std::string name = fmt::format("{} on {}", application, machine);
    if (wanted(name)) compare(problem_of(name, std::move(graph), machine), no_congestion, gathered);
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
