// SPDX-License-Identifier: Apache-2.0
// bench/auto: `auto` with many tasks per core (suite B): meshes, road networks, sparse random and power-law graphs on
// trees and tori, imbalance 3 %, compared with METIS multisection in the same run, on one thread: J, CPU seconds of
// place(), imbalance, memory, and J relative to the best published result of a partitioner.
//
//   bench_auto_meshes [--quick|--large] [--graph-seed 1] [--run-seed 0] [--best SECONDS] [--kind PART OF A NAME]
//       the table: 2^18 vertices and some 2^20; --quick: 2^16 only; --large: also 2^22; --best: also the effort `best`
//   bench_auto_meshes --only rggmesh.18,grid3d.17 [--specs auto,metis:cuts=1] [--graph-seed 2] [--run-seed 1]
//                         [--hierarchy 4:8:6 --distance 1:10:100 | --topology torus:8x8x4=1] [--memory]
//       J, seconds and, with --memory, the peak memory of the given mappers; 18 means 2^18
//
// Threads, growth and the wall time on 16 cores: bench_auto_scale.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/mesh_instances.hpp"
#include "bench/auto/reference_instances.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"

using namespace rankloom;
using namespace rankloom::bench;

namespace {

const std::string fast = "auto:effort=fast";
const std::string balanced = "auto";
const std::string best = "auto:effort=best";
/// Multisection with METIS's defaults, instance cut.
const std::string multisection = "metis:cuts=1";

/// The arrays of the communication graph.
double graph_bytes(const CommGraph& graph) {
  const CommGraph::Rows& rows = graph.rows();
  return static_cast<double>(sizeof(EdgeIndex) * rows.offsets.size() + sizeof(Rank) * rows.targets.size() +
                             sizeof(double) * (rows.bytes.size() + rows.messages.size() + rows.loads.size()));
}

class Table {
 public:
  Table(std::uint64_t graph_seed, const Runs& runs, std::chrono::seconds best_budget)
      : graph_seed_(graph_seed), runs_(runs), best_budget_(best_budget) {}

  void head() const {
    fmt::print("J (CPU seconds of the algorithm), one thread, imbalance 3 %; known: the best published J\n");
    fmt::print("{:<18}{:<24}{:>9}{:>22}{:>22}{:>22}{:>9}{:>7}{:>9}{:>7}{:>9}{:>9}{:>9}\n", "graph", "machine", "known",
               "metis", "fast", "balanced", "fast J", "time", "bal. J", "time", "b./known", "balance", "memory");
  }

  void add(const MeshInstance& instance) {
    const Problem problem = mesh_problem(instance, graph_seed_);
    const std::string with_load = instance.loads ? ",load" : "";
    const Runs with_memory{
        .seed = runs_.seed, .max_runs = runs_.max_runs, .enough_s = runs_.enough_s, .with_memory = true};
    const auto metis = measure(multisection + with_load, problem, runs_);
    const auto quick = measure(fast + with_load, problem, with_memory);
    const auto usual = measure(balanced + (instance.loads ? ":load" : ""), problem, runs_);
    const auto known = best_known(instance);
    std::optional<double> memory;
    if (quick && quick->peak_bytes) memory = *quick->peak_bytes / graph_bytes(problem.graph);
    std::optional<double> balance;
    for (const auto* const measured : {&quick, &usual}) {
      if (!*measured) continue;
      const double imbalance = relative_imbalance(problem, instance, (*measured)->core_of);
      balance = std::max(balance.value_or(0), imbalance);
      gathered_.note("balance", imbalance);
    }
    fmt::print("{:<18}{:<24}{:>9}{:>22}{:>22}{:>22}{:>9}{:>7}{:>9}{:>7}{:>9}{:>9}{:>9}\n", instance.name(),
               instance.machine, cell(known, 0), cost_and_time(metis), cost_and_time(quick), cost_and_time(usual),
               cell(ratio(quick, metis)), cell(time_ratio(quick, metis), 2), cell(ratio(usual, metis)),
               cell(time_ratio(usual, metis), 2), cell(against(usual, known)), cell(balance), cell(memory, 2));
    std::fflush(stdout);
    const bool sparse = instance.family() == GraphFamily::sparse;
    gathered_.note(sparse ? "sparse J" : "fast J", ratio(quick, metis));
    gathered_.note(sparse ? "sparse time" : "fast time", time_ratio(quick, metis));
    if (!sparse) gathered_.note("balanced time", time_ratio(usual, metis));
    gathered_.note("balanced / fast", ratio(usual, quick));
    if (known) gathered_.note("balanced / known", against(usual, known));
    gathered_.note("memory", memory);
    auto& row = rows_[fmt::format("{} on {}", instance.name(), instance.machine)];
    for (const auto& [name, measured] : {std::pair("metis", &metis), {"fast", &quick}, {"balanced", &usual}})
      if (*measured) row[name] = {(*measured)->cost, (*measured)->cpu_s};
    if (known && best_budget_.count() > 0) add_best(problem, *known, row);
  }

  int finish() const {
    fmt::print("\n");
    Goals goals;
    goals.at_most("fast: J / METIS multisection, geometric mean", gathered_.mean("fast J"), 0.90, 0.86);
    goals.at_most("fast: CPU time / METIS multisection, geometric mean", gathered_.mean("fast time"), 1.2, 0.6);
    goals.at_most("sparse random, power law: fast, J / METIS, mean", gathered_.mean("sparse J"), 0.98, 0.95);
    goals.at_most("sparse random, power law: fast, CPU time / METIS, mean", gathered_.mean("sparse time"), 1.5, 1);
    if (graph_seed_ == 1)
      goals.at_most("balanced: J / best published, geometric mean", gathered_.mean("balanced / known"), 0.995, 0.97);
    goals.at_most("balanced: CPU time / METIS multisection, geometric mean", gathered_.mean("balanced time"), 3, 1.5);
    goals.at_most("balanced: J / fast, worst", gathered_.worst("balanced / fast"), 1, 1);
    if (best_budget_.count() > 0) {
      goals.at_most(fmt::format("best, {} s: J / best published, geometric mean", best_budget_.count()),
                    gathered_.mean("best / known"), 0.97, 0.94);
    }
    goals.at_most("weight on a core / allowed weight, worst", gathered_.worst("balance"), 1, 1);
    goals.at_most("fast: peak memory / memory of the graph, worst", gathered_.worst("memory"), 1.5, 1);
    return bench::finish("auto_meshes", goals.reached(), goals.sentence(),
                         {{"goals", goals.figures()}, {"graph_seed", graph_seed_}, {"cost_and_cpu_seconds", rows_}});
  }

 private:
  std::optional<double> best_known(const MeshInstance& instance) const {
    const Published* const row = published(instance.kind, instance.size(), instance.machine, graph_seed_);
    return row != nullptr && !instance.loads ? std::optional(row->best) : std::nullopt;
  }

  /// `best` searches until its budget ends.
  void add_best(const Problem& problem, double known, nlohmann::json& row) {
    const auto found =
        measure(best, problem, {.seed = runs_.seed, .budget = best_budget_, .max_runs = 1, .enough_s = 0});
    fmt::print("{:>42}{:>22}  {} of known\n", "best", cost_and_time(found), cell(against(found, known)));
    std::fflush(stdout);
    gathered_.note("best / known", against(found, known));
    if (found) row["best"] = {found->cost, found->cpu_s};
  }

  std::uint64_t graph_seed_;
  Runs runs_;
  std::chrono::seconds best_budget_;
  Gathered gathered_;
  nlohmann::json rows_;
};

MeshInstance named(const std::string& name, const Arguments& arguments) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  MeshInstance instance{
      name.substr(0, dot),
      dot < name.size() ? static_cast<unsigned>(std::strtoul(name.c_str() + dot + 1, nullptr, 10)) : 0};
  instance.machine = arguments.value("--topology", arguments.value("--hierarchy", instance.machine));
  instance.distance = arguments.value("--distance", instance.distance);
  return instance;
}

void compare_specs(const Arguments& arguments, std::uint64_t graph_seed) {
  Runs runs = runs_of(arguments);
  runs.with_memory = arguments.has("--memory");
  runs.max_runs = runs.with_memory ? 2 : 1;  // the pages of the program are memory, too, and in place after one run
  runs.enough_s = std::numeric_limits<double>::max();
  for (const std::string& name : arguments.list("--only")) {
    const MeshInstance instance = named(name, arguments);
    const Published* const row = published(instance.kind, instance.size(), instance.machine, graph_seed);
    const Problem problem = mesh_problem(instance, graph_seed);
    for (const std::string& spec : arguments.list("--specs", "metis:cuts=1,auto:effort=fast,auto")) {
      const auto measured = measure(spec, problem, runs);
      print_row(problem.name, spec, measured, row != nullptr ? std::optional(row->best) : std::nullopt);
      if (measured && measured->peak_bytes)
        fmt::print("{:>52} times the memory of the graph\n",
                   cell(*measured->peak_bytes / graph_bytes(problem.graph), 2));
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const ThreadLimit one_thread(1);
  const std::uint64_t graph_seed = arguments.number("--graph-seed", 1);
  if (arguments.has("--only")) {
    compare_specs(arguments, graph_seed);
    return 0;
  }
  Runs runs = runs_of(arguments);
  runs.budget = {};
  runs.max_runs = 3;
  runs.enough_s = 1;
  Table table(graph_seed, runs, std::chrono::seconds(arguments.number("--best", 0)));
  table.head();
  const bool quick = arguments.has("--quick");
  const std::string kind = arguments.value("--kind");
  for (const MeshInstance& instance : mesh_instances(quick ? 16 : 18, !quick, arguments.has("--large")))
    if (instance.name().find(kind) != std::string::npos) table.add(instance);
  return table.finish();
}
