// SPDX-License-Identifier: Apache-2.0
// bench/mapping: whether `exhaustive` equals brute force and solves the largest size of the paper, 10 tasks on 15
// cores: random dense traffic on random distances (without symmetry) and on a cluster of nodes.
#include <limits>

#include <fmt/format.h>

#include "bench/verdict.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"

using namespace rankloom;

namespace {

CommGraph dense_traffic(std::uint32_t ranks, std::uint64_t seed) {
  Random random(seed);
  CommGraphBuilder builder(ranks);
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = 0; b < ranks; ++b) {
      if (a != b) builder.add(Rank{a}, Rank{b}, static_cast<double>(random.below(100)));
    }
  }
  return std::move(builder).build(true);
}

Topology random_distances(std::uint32_t cores, std::uint64_t seed) {
  Random random(seed, 1);
  std::vector<double> distances(std::size_t{cores} * cores, 0.0);
  for (std::uint32_t a = 0; a < cores; ++a) {
    for (std::uint32_t b = 0; b < cores; ++b) {
      if (a != b) distances[std::size_t{a} * cores + b] = static_cast<double>(1 + random.below(99));
    }
  }
  return *Topology::from_matrix(cores, std::move(distances));
}

/// The lowest cost of all placements, without a bound.
class BruteForce {
 public:
  BruteForce(const CommGraph& graph, const Topology& topology)
      : graph_(graph), topology_(topology), core_of_(graph.rank_count()), used_(topology.core_count(), false) {}

  double least() {
    place(0);
    return least_;
  }

 private:
  void place(std::uint32_t rank) {
    if (rank == graph_.rank_count()) {
      least_ = std::min(least_, evaluate(graph_, topology_, core_of_, CostModel::bytes));
      return;
    }
    for (const Core core : topology_.cores()) {
      if (used_[index(core)]) continue;
      used_[index(core)] = true;
      core_of_[rank] = core;
      place(rank + 1);
      used_[index(core)] = false;
    }
  }

  const CommGraph& graph_;
  const Topology& topology_;
  std::vector<Core> core_of_;
  std::vector<bool> used_;
  double least_ = std::numeric_limits<double>::infinity();
};

MapProblem problem_of(const CommGraph& graph, const Topology& topology, const Capacities& capacities) {
  return {.graph = graph, .topology = topology, .capacities = capacities, .model = CostModel::bytes, .start = {}};
}

/// The number of instances, of 2 to 8 tasks on up to 9 cores, on which both agree. Only a few have the full size,
/// because brute force takes seconds there.
std::uint64_t agreements(std::uint64_t instances) {
  std::uint64_t equal = 0;
  for (std::uint64_t seed = 0; seed < instances; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(seed % 50 == 0 ? 8 : 2 + seed % 5);
    const auto cores = ranks + static_cast<std::uint32_t>(seed % 50 == 0 ? 1 : seed % 3);
    const CommGraph graph = dense_traffic(ranks, seed);
    const Topology topology = random_distances(cores, seed);
    const Capacities capacities = *Capacities::of(topology, ranks, {});
    const auto result = run_mapper(*make_mapper("exhaustive"), problem_of(graph, topology, capacities), MapRun{});
    equal += result && result->cost == BruteForce(graph, topology).least() ? 1 : 0;
  }
  return equal;
}

}  // namespace

int main() {
  constexpr std::uint64_t instances = 200;
  const std::uint64_t equal = agreements(instances);
  fmt::print("equal to brute force on {} of {} random instances, up to 8 tasks on 9 cores\n\n", equal, instances);
  const auto cluster = load_topology("node:3=10 core:5=1");
  bool all = equal == instances;
  double slowest = 0;
  fmt::print("10 tasks on 15 cores, dense random traffic\n{:<10} {:<18} {:>12} {:>10}  {}\n", "seed", "distances",
             "cost", "time", "result");
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const bool table : {true, false}) {
      const Topology topology = table ? random_distances(15, seed) : *cluster;
      const CommGraph graph = dense_traffic(10, seed);
      const Capacities capacities = *Capacities::of(topology, 10, {});
      const auto result = run_mapper(*make_mapper("exhaustive"), problem_of(graph, topology, capacities), MapRun{});
      const bool proved = result && result->lower_bound && *result->lower_bound == result->cost;
      all &= proved;
      if (result) slowest = std::max(slowest, result->time_ms);
      fmt::print("{:<10} {:<18} {:>12} {:>8.0f} ms  {}\n", seed, table ? "random matrix" : "3 nodes x 5",
                 result ? result->cost : 0, result ? result->time_ms : 0,
                 proved   ? "proved optimal"
                 : result ? result->note
                          : to_string(result.error()));
    }
  }
  return bench::finish(
      "exhaustive", all,
      fmt::format("equal to brute force on {} of {}; 10 tasks on 15 cores proved optimal, slowest {:.1f} s", equal,
                  instances, slowest / 1000),
      {{"slowest_ms", slowest}, {"equal_to_brute_force", equal}});
}
