// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` on measured applications (suite C), on the cluster of Wang 2015. Required: it never costs more
// than the block placement. Target: it never costs more than the best of all other mappers.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/verdict.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/discover/discover.hpp"

using namespace rankloom;
using namespace rankloom::bench;

int main() {
  const ThreadLimit one_thread(1);
  constexpr const char* cluster = "switch:2=4.1 node:6=3.7 core:16=1";
  const Topology machine = *load_topology(cluster);
  const std::vector<std::string> peers{"block",      "scotch",     "scotch:pack", "metis",
                                       "metis:pack", "clustering", "treematch"};
  fmt::print("cost relative to block on {}, and CPU seconds of auto\n{:<28}", cluster, "application");
  for (const std::string& peer : peers) fmt::print("{:>12}", peer);
  fmt::print("{:>12}{:>12}{:>12}{:>12}\n", "auto fast", "auto", "auto/best", "CPU s");
  Gathered gathered;
  nlohmann::json rows;
  for (const char* name :
       {"bt.A.64", "cg.W.8", "cg.A.128", "ep.A.64", "ft.W.8", "is.W.8", "lu.A.64", "mg.A.64", "sp.A.144", "hpcc.32",
        "lammps.lj.32", "gromacs.water.32", "openfoam.cavity3d.64", "openfoam.cavity3d-simple.64"}) {
    auto imported = import_profile(*read_file(fmt::format("{}/matrices/{}.txt", RANKLOOM_TEST_DATA, name)));
    CommGraph graph = traffic(std::move(imported->profile), CollectiveModel::tree);
    Capacities capacities = *Capacities::of(machine, graph.rank_count(), {});
    const Problem problem{name, std::move(graph), machine, std::move(capacities)};
    fmt::print("{:<28}", name);
    std::optional<double> block, best;
    for (const std::string& peer : peers) {
      const auto measured = measure(peer, problem, {.max_runs = 1});
      if (peer == "block") block = measured->cost;
      if (measured) best = std::min(best.value_or(measured->cost), measured->cost);
      fmt::print("{:>12}", cell(against(measured, block), 4));
      if (measured) rows[name][peer] = measured->cost;
    }
    const auto quick = measure("auto:effort=fast", problem);
    const auto usual = measure("auto", problem);
    fmt::print("{:>12}{:>12}{:>12}{:>12}\n", cell(against(quick, block), 4), cell(against(usual, block), 4),
               cell(against(usual, best), 4), cell(usual ? std::optional(usual->cpu_s) : std::nullopt, 4));
    std::fflush(stdout);
    gathered.note("block", against(usual, block));
    gathered.note("best", against(usual, best));
    gathered.note("fast", against(quick, best));
    if (usual) rows[name]["auto"] = usual->cost;
    if (quick) rows[name]["fast"] = quick->cost;
  }
  fmt::print("\n");
  constexpr double rounding = 1e-9;
  Goals goals;
  goals.at_most("balanced: cost / cost of block, worst", gathered.worst("block"), 1 + rounding, 1 + rounding);
  goals.aim_at_most("balanced: cost / best of the others, worst", gathered.worst("best"), 1 + rounding);
  goals.aim_at_most("balanced: cost / best of the others, geometric mean", gathered.mean("best"), 1 + rounding);
  goals.aim_at_most("fast: cost / best of the others, worst", gathered.worst("fast"), 1 + rounding);
  return finish("auto_applications", goals.reached(), goals.sentence(), {{"goals", goals.figures()}, {"cost", rows}});
}
