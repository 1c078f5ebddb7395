// SPDX-License-Identifier: Apache-2.0
// bench/mapping: the gap of the local searches to the best known solutions of QAPLIB (Burkard, Çela, Karisch, Rendl).
// Raw results, seed 0. Required: `mpipp` with its 10 restarts is within 5 % on the marked instances.
#include <algorithm>

#include <fmt/format.h>

#include "bench/mapping/qaplib_instances.hpp"
#include "bench/verdict.hpp"
#include "rankloom/map/run.hpp"

using namespace rankloom;

namespace {

constexpr double max_percent = 5;

bool is_required(const std::string& name) {
  return name.starts_with("nug") || name == "had20" || name == "rou20" || name == "kra30a" || name == "tho30";
}

}  // namespace

int main() {
  const auto instances = bench::read_qaplib(RANKLOOM_TEST_DATA "/qaplib");
  if (!instances) {
    fmt::print(stderr, "{}\n", to_string(instances.error()));
    return 5;
  }
  const std::vector<std::string> columns{"greedy", "pair-exchange", "mpipp"};
  fmt::print("gap to the best known cost (*: required within {} % with mpipp), and time\n{:<10} {:>12}", max_percent,
             "instance", "best known");
  for (const auto& column : columns) fmt::print("{:>26}", column);
  fmt::print("\n");

  double widest = 0;
  bool sound = true;
  nlohmann::json rows;
  for (const bench::QaplibInstance& instance : *instances) {
    const Capacities capacities = *Capacities::of(instance.machine, instance.graph.rank_count(), {});
    const MapProblem problem{.graph = instance.graph,
                             .topology = instance.machine,
                             .capacities = capacities,
                             .model = CostModel::bytes,
                             .start = {}};
    fmt::print("{:<10} {:>12.0f}", instance.name + (is_required(instance.name) ? "*" : ""), instance.best_known);
    for (const auto& column : columns) {
      const auto result = run_mapper(*make_mapper(column), problem, MapRun{}, {.keep_worse = true});
      const double gap = 100 * (result->cost / instance.best_known - 1);
      fmt::print("{:>14.2f} % {:>6.0f} ms", gap, result->time_ms);
      rows[instance.name][column] = gap;
      sound &= gap > -1e-9;  // a cost below the best known one means that it is computed wrongly
      if (column == "mpipp" && is_required(instance.name)) widest = std::max(widest, gap);
    }
    fmt::print("\n");
  }
  return bench::finish(
      "qaplib", sound && !rows.empty() && widest <= max_percent,
      fmt::format("mpipp with 10 restarts is within {:.2f} % of the best known on the marked instances", widest),
      {{"gap_percent", rows}, {"widest_percent", widest}});
}
