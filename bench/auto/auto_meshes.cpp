// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` with many tasks per core (suite B): meshes of 2^18 and 2^20 vertices, imbalance 3 %, compared with
// METIS multisection in the same run, on one thread: J, CPU seconds of place(), and J relative to the best
// published result of a partitioner. The capacity of a core is floor(1.03 x ceil(N / P)) tasks, as in KaHIP.
//
//   bench_auto_meshes [--quick]                                        the table; --quick omits 2^20
//   bench_auto_meshes --only rggmesh.18,grid3d.17 [--specs auto,metis:cuts=1] [--seed 2] [--run-seed 1]
//                         [--hierarchy 4:8:6 --distance 1:10:100]         J and seconds of the given mappers; 18 means
//                         2^18
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/reference_instances.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"

using namespace rankloom;
using namespace rankloom::bench;

namespace {

constexpr const char* fast = "auto:effort=fast";
constexpr const char* balanced = "auto";
/// Multisection with METIS's defaults, instance cut.
constexpr const char* multisection = "metis:cuts=1";

struct Case {
  std::string kind;
  unsigned power;
  std::string hierarchy = "4:8:6", distance = "1:10:100";

  std::uint32_t size() const { return 1U << power; }
  std::string name() const { return fmt::format("{} 2^{}", kind, power); }
};

Problem problem_of(const Case& instance, std::uint64_t seed) {
  auto graph = instance.power < 31 ? reference_graph(instance.kind, instance.size(), seed) : std::nullopt;
  if (!graph) {
    fmt::print(stderr, "unknown graph {}\n", instance.name());
    std::exit(2);
  }
  return problem_on(instance.name(), std::move(*graph), instance.hierarchy, instance.distance,
                    {.oversubscribe = true, .imbalance = 0.03});
}

class Table {
 public:
  void head() const {
    fmt::print("J (CPU seconds of the algorithm), one thread, imbalance 3 %\n{:<16}{:>8}{:>12}{:>20}{:>20}{:>20}",
               "graph", "machine", "best known", "metis", "auto fast", "auto");
    fmt::print("{:>12}{:>12}{:>12}{:>12}\n", "fast/metis", "time", "auto/best", "metis/best");
  }

  void add(const Case& instance) {
    const Problem problem = problem_of(instance, 1);
    const Published* const row = published(instance.kind, instance.size(), instance.hierarchy, 1);
    const auto metis = measure(multisection, problem, runs_);
    const auto quick = measure(fast, problem, runs_);
    const auto usual = measure(balanced, problem, runs_);
    const std::optional<double> known = row != nullptr ? std::optional(row->best) : std::nullopt;
    fmt::print("{:<16}{:>8}{:>12}{:>20}{:>20}{:>20}{:>12}{:>12}{:>12}{:>12}\n", instance.name(), instance.hierarchy,
               cell(known, 0), cost_and_time(metis), cost_and_time(quick), cost_and_time(usual),
               cell(ratio(quick, metis)), cell(time_ratio(quick, metis)), cell(against(usual, known)),
               cell(against(metis, known)));
    std::fflush(stdout);
    gathered_.note("fast J", ratio(quick, metis));
    gathered_.note("fast time", time_ratio(quick, metis));
    gathered_.note("auto J", against(usual, known));
    gathered_.note("metis J", against(metis, known));
    const auto time = time_ratio(usual, metis);
    gathered_.note("auto time",
                   time && row != nullptr ? std::optional(*time / (row->good_s / row->fast_s)) : std::nullopt);
    for (const auto& [name, measured] : {std::pair("metis", &metis), {"fast", &quick}, {"auto", &usual}}) {
      if (*measured)
        rows_[instance.name() + " on " + instance.hierarchy][name] = {(*measured)->cost, (*measured)->cpu_s};
    }
  }

  int finish() const {
    fmt::print("\nmetis J / best: geometric mean {}\n\n", cell(gathered_.mean("metis J")));
    Goals goals;
    goals.at_most("fast: J / J of METIS multisection, geometric mean", gathered_.mean("fast J"), 0.97, 0.92);
    goals.at_most("fast: CPU time / CPU time of METIS multisection, geometric mean", gathered_.mean("fast time"), 2, 1);
    goals.at_most("balanced: J / best published, geometric mean", gathered_.mean("auto J"), 1.03, 0.98);
    goals.at_most("balanced: CPU time / KaHIP eco (both relative to METIS), mean", gathered_.mean("auto time"), 1,
                  1.0 / 3);
    return bench::finish("auto_meshes", goals.reached(), goals.sentence(),
                         {{"goals", goals.figures()}, {"cost_and_cpu_seconds", rows_}});
  }

 private:
  Runs runs_{.max_runs = 3, .enough_s = 2};
  Gathered gathered_;
  nlohmann::json rows_;
};

Case named(const std::string& name, const Arguments& arguments) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  Case instance{name.substr(0, dot),
                dot < name.size() ? static_cast<unsigned>(std::strtoul(name.c_str() + dot + 1, nullptr, 10)) : 0};
  instance.hierarchy = arguments.value("--hierarchy", instance.hierarchy);
  instance.distance = arguments.value("--distance", instance.distance);
  return instance;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const ThreadLimit one_thread(1);
  if (arguments.has("--only")) {
    const std::uint64_t seed = arguments.number("--seed", 1);
    for (const std::string& name : arguments.list("--only")) {
      const Case instance = named(name, arguments);
      const Published* const row = published(instance.kind, instance.size(), instance.hierarchy, seed);
      Runs runs = runs_of(arguments);
      runs.max_runs = 1;
      try_specs(problem_of(instance, seed), arguments.list("--specs", "metis:cuts=1,auto:effort=fast,auto"),
                row != nullptr ? std::optional(row->best) : std::nullopt, runs);
    }
    return 0;
  }
  Table table;
  table.head();
  for (const char* kind : {"rggmesh", "delaunay", "grid3d", "grid2d"}) table.add({kind, 18});
  table.add({"rggmesh", 18, "4:8:16"});
  if (!arguments.has("--quick")) table.add({"rggmesh", 20});
  return table.finish();
}
