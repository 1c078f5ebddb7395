// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` with effort=best on QAPLIB (suite D), 10 s per instance on one thread: how often it finds the best
// known cost. bench_auto_qaplib [--spec auto] [--budget 10] [--run-seed 1]; about five minutes.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/mapping/qaplib_instances.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"

using namespace rankloom;
using namespace rankloom::bench;

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const ThreadLimit one_thread(1);
  const std::string spec = arguments.value("--spec", "auto:effort=best");
  Runs runs = runs_of(arguments);
  if (runs.budget.count() == 0) runs.budget = std::chrono::seconds(10);
  runs.max_runs = 1;
  auto instances = read_qaplib(RANKLOOM_TEST_DATA "/qaplib");
  if (!instances) {
    fmt::print(stderr, "{}\n", to_string(instances.error()));
    return 5;
  }
  fmt::print("{} with {} s\n{:<10}{:>14}{:>14}{:>12}{:>10}\n", spec, runs.budget.count() / 1000, "instance",
             "best known", "found", "gap", "wall");
  std::size_t found = 0;
  std::optional<double> widest;
  bool all_measured = true, sound = true;
  nlohmann::json rows;
  for (QaplibInstance& instance : *instances) {
    Capacities capacities = *Capacities::of(instance.machine, instance.graph.rank_count(), {});
    const Problem problem{instance.name, std::move(instance.graph), std::move(instance.machine), std::move(capacities)};
    const auto measured = measure(spec, problem, runs);
    if (!measured) {
      all_measured = false;
      break;
    }
    const double gap = 100 * (measured->cost / instance.best_known - 1);
    constexpr double nothing = 1e-9;
    found += gap < nothing ? 1 : 0;
    sound &= gap > -nothing;  // a cost below the best known one means that it is computed wrongly
    widest = std::max(widest.value_or(0), gap);
    rows[instance.name] = gap;
    fmt::print("{:<10}{:>14.0f}{:>14.0f}{:>10.3f} %{:>8.1f} s\n", instance.name, instance.best_known, measured->cost,
               gap, measured->wall_s);
    std::fflush(stdout);
  }
  fmt::print("\n");
  Goals goals;
  goals.at_least(fmt::format("best known costs found, of {}", instances->size()),
                 all_measured ? std::optional(static_cast<double>(found)) : std::nullopt, 25,
                 static_cast<double>(instances->size()));
  goals.at_most("widest gap in %", all_measured ? widest : std::nullopt, 1, 0);
  return finish("auto_qaplib", sound && goals.reached(), goals.sentence(),
                {{"goals", goals.figures()}, {"gap_percent", rows}});
}
