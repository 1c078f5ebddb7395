// SPDX-License-Identifier: Apache-2.0
// bench: does `exhaustive` finish what the paper calls its limit, 10 tasks on 15 cores? Random dense traffic, on random
// distances (no symmetry to use) and on a cluster of nodes.
#include <chrono>

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

}  // namespace

int main() {
  const auto cluster = load_topology("node:3=10 core:5=1");
  bool all = true;
  double slowest = 0;
  fmt::print("10 tasks on 15 cores, dense random traffic\n{:<10} {:<18} {:>12} {:>10}  {}\n", "seed", "distances",
             "cost", "time", "result");
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const bool table : {true, false}) {
      const Topology topology = table ? random_distances(15, seed) : *cluster;
      const CommGraph graph = dense_traffic(10, seed);
      const Slots slots = *Slots::of(topology, 10, {});
      const MapProblem problem{
          .graph = graph, .topology = topology, .slots = slots, .model = CostModel::bytes, .start = {}};
      const auto result = run_mapper(*make_mapper("exhaustive"), problem, MapRun{});
      const bool proved = result && result->lower_bound && *result->lower_bound == result->cost;
      all &= proved;
      if (result) slowest = std::max(slowest, result->time_ms);
      fmt::print("{:<10} {:<18} {:>12} {:>8.0f} ms  {}\n", seed, table ? "random table" : "3 nodes x 5",
                 result ? result->cost : 0, result ? result->time_ms : 0,
                 proved   ? "proved optimal"
                 : result ? result->note
                          : to_string(result.error()));
    }
  }
  return bench::finish("exhaustive", all,
                       fmt::format("10 tasks on 15 cores proved optimal, slowest {:.1f} s", slowest / 1000),
                       {{"slowest_ms", slowest}});
}
