// SPDX-License-Identifier: Apache-2.0
// bench/mapping: eager with skewed loads: the load imbalance of groups by number, of groups by load (Cruz 2019, 3.4)
// and with --balance, and the cost of the balance. Required: with --balance the largest core load is within 5 % of the
// bound (the larger of the average core load and the largest rank load) if the loads can be packed that way, at most
// at 1.1 times the cost of the groups by load; equal loads change nothing. Raw results, the worst of several seeds.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/eager/bin_packing.hpp"
#include "rankloom/map/run.hpp"

using namespace rankloom;

namespace {

constexpr double max_imbalance = 0.05;
constexpr double max_cost_ratio = 1.1;
constexpr std::uint64_t seeds = 3;

enum class Skew { none, zipf, one_heavy, bimodal, uniform };

struct Loads {
  const char* name;
  Skew skew;
  double exponent;
};

std::vector<double> loads_of(const Loads& kind, std::uint32_t ranks, std::uint64_t seed) {
  Random random(seed, ranks);
  std::vector<double> loads(ranks, 1.0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (kind.skew == Skew::zipf) loads[rank] = std::pow(rank + 1.0, -kind.exponent);
    if (kind.skew == Skew::bimodal) loads[rank] = random.below(5) == 0 ? 10 : 1;
    if (kind.skew == Skew::uniform) loads[rank] = random.unit();
  }
  random.shuffle(std::span(loads));
  if (kind.skew == Skew::one_heavy) loads[random.below(ranks)] = ranks / 10.0;
  return loads;
}

/// The worst over seeds, graphs and machines.
struct Row {
  double plain = 0, by_load = 0, balanced = 0;  // imbalances
  double cost = 0, cost_to_plain = 0;           // of the balanced one, relative to the other two
  double time_ms = 0;
  int cases = 0, packable = 0, off_balance = 0, too_expensive = 0, too_expensive_vs_plain = 0, changed = 0;
};

void measure(const CommGraph& graph, const Topology& topology, Row& row) {
  const Capacities capacities = *Capacities::of(topology, graph.rank_count(), {.oversubscribe = true});
  const MapProblem problem{
      .graph = graph, .topology = topology, .capacities = capacities, .model = CostModel::bytes, .start = {}};
  const auto run = [&](const char* spec) { return *run_mapper(*make_mapper(spec), problem, {}, {.keep_worse = true}); };
  const MapResult plain = run("eager"), by_load = run("eager:load"), balanced = run("eager:balance");
  const double limit = by_load.load->lower_bound * (1 + max_imbalance);
  const std::vector<std::uint32_t> max_items(topology.core_count(), graph.rank_count());
  const bool packable = pack_bins(graph.loads(), max_items, limit).max_load <= limit;
  ++row.cases;
  row.packable += packable ? 1 : 0;
  row.off_balance += packable && balanced.load->heaviest_core > limit ? 1 : 0;
  row.too_expensive += packable && balanced.cost > max_cost_ratio * by_load.cost ? 1 : 0;
  row.too_expensive_vs_plain += packable && balanced.cost > max_cost_ratio * plain.cost ? 1 : 0;
  row.changed += by_load.mapping != plain.mapping || balanced.mapping != plain.mapping ? 1 : 0;
  row.time_ms = std::max(row.time_ms, balanced.time_ms);
  if (!packable) return;
  row.plain = std::max(row.plain, load_balance(graph, topology, plain.mapping.cores()).imbalance());
  row.by_load = std::max(row.by_load, by_load.load->imbalance());
  row.balanced = std::max(row.balanced, balanced.load->imbalance());
  row.cost = std::max(row.cost, balanced.cost / by_load.cost);
  row.cost_to_plain = std::max(row.cost_to_plain, balanced.cost / plain.cost);
}

/// One kind of loads on one pattern, with few and with many ranks per core.
Row measure(const Loads& kind, const std::string& pattern, std::initializer_list<std::uint32_t> ranks_per_core) {
  Row row;
  for (const char* machine : {"node:4=10 core:4=1", "switch:2=100 node:4=10 core:8=1"}) {
    const Topology topology = *Topology::build(*parse_topology_string(machine));
    for (const std::uint32_t each : ranks_per_core) {
      const auto profile = generate(fmt::format("{}:ranks={}", pattern, each * topology.core_count()));
      const CommGraph graph = traffic(Profile(*profile), CollectiveModel::tree);
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto rows = graph.rows();
        rows.loads = loads_of(kind, graph.rank_count(), seed);
        measure(CommGraph(std::move(rows)), topology, row);
      }
    }
  }
  return row;
}

void print(const Loads& kind, const std::string& pattern, const Row& row) {
  fmt::print("{:<10}{:<11}{:>9.1f} %{:>9.1f} %{:>9.1f} %{:>8}/{:<5}{:>7.3f} x{:>9.3f} x{:>7.0f} ms\n", kind.name,
             pattern, 100 * row.plain, 100 * row.by_load, 100 * row.balanced, row.packable, row.cases, row.cost,
             row.cost_to_plain, row.time_ms);
}

}  // namespace

int main() {
  fmt::print(
      "largest core load above the bound, and cost of the balance; the worst of 2 machines, 3 numbers of ranks per "
      "core (2 to 20), {} seeds\n{:<10}{:<11}{:>11}{:>11}{:>11}{:>14}{:>9}{:>11}{:>10}\n",
      seeds, "loads", "pattern", "plain", "--load", "--balance", "packable", "to load", "to plain", "time");
  int off_balance = 0, too_expensive = 0, too_expensive_vs_plain = 0, packable = 0, changed = 0;
  double worst_cost = 0;
  nlohmann::json rows;
  const auto table = [&](const Loads& kind, std::initializer_list<std::uint32_t> ranks_per_core) {
    Row sum;
    for (const char* pattern : {"stencil2d", "stencil3d", "rgg", "random", "blocks"}) {
      const Row row = measure(kind, pattern, ranks_per_core);
      print(kind, pattern, row);
      rows[kind.name][pattern] = {
          {"plain", row.plain}, {"load", row.by_load}, {"balance", row.balanced}, {"cost", row.cost}};
      sum.off_balance += row.off_balance;
      sum.too_expensive += row.too_expensive;
      sum.too_expensive_vs_plain += row.too_expensive_vs_plain;
      sum.changed += row.changed;
      sum.packable += row.packable;
      sum.cost = std::max(sum.cost, row.cost);
    }
    return sum;
  };
  for (const Loads& kind : {Loads{"equal", Skew::none, 0}, Loads{"zipf 0.5", Skew::zipf, 0.5},
                            Loads{"zipf 1", Skew::zipf, 1}, Loads{"zipf 1.5", Skew::zipf, 1.5},
                            Loads{"one heavy", Skew::one_heavy, 0}, Loads{"bimodal", Skew::bimodal, 0}}) {
    const Row sum = table(kind, {2, 5, 20});
    off_balance += sum.off_balance;
    too_expensive += sum.too_expensive;
    too_expensive_vs_plain += sum.too_expensive_vs_plain;
    packable += kind.skew != Skew::none ? sum.packable : 0;
    worst_cost = std::max(worst_cost, sum.cost);
    if (kind.skew == Skew::none) changed += sum.changed;
  }
  // The hardest case, for information only: two ranks per core, all loads different.
  const Row tight = table({"uniform", Skew::uniform, 0}, {2});
  off_balance += tight.off_balance;
  fmt::print("{} of {} with skewed loads cost more than {} x plain eager\n", too_expensive_vs_plain, packable,
             max_cost_ratio);
  fmt::print("two ranks per core with uniform loads: {} of {} packable cases cost more than {} x\n",
             tight.too_expensive, tight.packable, max_cost_ratio);
  return bench::finish(
      "eager_load", off_balance == 0 && too_expensive == 0 && changed == 0,
      fmt::format("--balance is within 5 % if a packing exists ({} exceptions), at most at {:.3f} x the cost "
                  "of --load (required: {}); equal loads change nothing ({} exceptions)",
                  off_balance, worst_cost, max_cost_ratio, changed),
      {{"rows", rows},
       {"off_balance", off_balance},
       {"too_expensive", too_expensive},
       {"worst_cost_ratio", worst_cost},
       {"tight_too_expensive", tight.too_expensive},
       {"tight_packable", tight.packable}});
}
