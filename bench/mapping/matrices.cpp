// SPDX-License-Identifier: Apache-2.0
// bench/mapping: the cost of each mapper on measured applications on the cluster of Wang 2015 (12 nodes x 16 cores, 2
// switches), relative to the block placement. Required: no result that a mapper returns costs more.
#include <fmt/format.h>

#include "bench/verdict.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"

using namespace rankloom;

int main() {
  const auto cluster = load_topology("switch:2=4.1 node:6=3.7 core:16=1");
  const std::vector<std::string> mappers{"greedy", "pe-500k", "mpipp:restarts=3", "refine", "auto"};
  fmt::print(
      "cost relative to block on switch:2=4.1 node:6=3.7 core:16=1 (smaller is better; raw results, seed 0)\n{:<24}",
      "application");
  for (const auto& name : mappers) fmt::print("{:>18}", name);
  fmt::print("\n");
  bool never_worse = true;
  nlohmann::json rows;
  for (const char* name : {"sp.A.144", "bt.A.64", "cg.A.128", "lu.A.64", "openfoam.cavity3d.64", "lammps.lj.32"}) {
    auto file = read_file(fmt::format("{}/matrices/{}.txt", RANKLOOM_TEST_DATA, name));
    auto imported = import_profile(*file);
    const CommGraph graph = traffic(std::move(imported->profile), CollectiveModel::tree);
    const Capacities capacities = *Capacities::of(*cluster, graph.rank_count(), {});
    const MapProblem problem{
        .graph = graph, .topology = *cluster, .capacities = capacities, .model = CostModel::bytes, .start = {}};
    fmt::print("{:<24}", name);
    for (const auto& mapper : mappers) {
      const auto raw = run_mapper(*make_mapper(mapper), problem, MapRun{}, {.keep_worse = true});
      const auto handed_out = run_mapper(*make_mapper(mapper), problem, MapRun{});
      never_worse &= handed_out->cost <= handed_out->cost_default;
      rows[name][mapper] = raw->cost / raw->cost_default;
      fmt::print("{:>18.4f}", raw->cost / raw->cost_default);
    }
    fmt::print("\n");
  }
  return bench::finish("matrices", never_worse, "no returned mapping costs more than block", {{"relative_cost", rows}});
}
