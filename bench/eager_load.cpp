// SPDX-License-Identifier: Apache-2.0
// bench: eager under skewed loads: how far the heaviest core is above the least possible with plain groups, with
// groups by load (Cruz 2019, 3.4), and balanced; and what the balance costs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/eager/packing.hpp"
#include "rankloom/map/run.hpp"

using namespace rankloom;

namespace {

std::vector<double> skewed(std::string_view kind, std::uint32_t n, std::uint64_t seed) {
  Random random(seed, n);
  std::vector<double> loads(n, 1.0);
  if (kind.starts_with("zipf")) {
    const double e = std::strtod(std::string(kind.substr(4)).c_str(), nullptr);
    for (std::uint32_t i = 0; i < n; ++i) loads[i] = std::pow(i + 1.0, -e);
    random.shuffle(std::span(loads));
  } else if (kind == "heavy") {
    loads[random.below(n)] = n / 10.0;
  } else if (kind == "bimodal") {
    for (auto& l : loads) l = random.below(5) == 0 ? 10 : 1;
  } else if (kind == "uniform") {
    for (auto& l : loads) l = random.unit();
  } else if (kind == "exp") {
    for (auto& l : loads) l = -std::log(1 - random.unit());
  }
  return loads;
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 1;
  int total = 0, possible = 0, bad_balance = 0, bad_cost = 0, bad_plain = 0;
  double worst = 0, slowest = 0;
  std::vector<double> ratios;
  for (const char* tree :
       {"node:4=10 core:4=1", "switch:2=100 node:4=10 core:8=1", "node:8=10 package:2=3 core:16=1"}) {
    const Topology topology = *Topology::build(*parse_topology_string(tree));
    for (const std::uint32_t per : {2, 3, 5, 10, 20, 50}) {
      if (std::getenv("PER") && static_cast<int>(per) > std::atoi(std::getenv("PER"))) continue;
      const std::uint32_t n = per * topology.core_count();
      for (const std::string& graph_name :
           {fmt::format("stencil2d:ranks={}", n), fmt::format("stencil3d:ranks={}", n), fmt::format("rgg:ranks={}", n),
            fmt::format("powerlaw:ranks={}", n), fmt::format("blocks:ranks={}", n)}) {
        auto profile = generate(graph_name);
        if (!profile) {
          if (argc > 3) fmt::print("{}\n", to_string(profile.error()));
          continue;
        }
        auto rows = std::move(traffic(std::move(*profile), CollectiveModel::tree)).release();
        for (const char* kind : {"zipf0.5", "zipf1", "zipf1.5", "heavy", "bimodal", "uniform", "exp"}) {
          for (int seed = 0; seed < seeds; ++seed) {
            auto copy = rows;
            copy.loads = skewed(kind, static_cast<std::uint32_t>(copy.offsets.size() - 1), static_cast<std::uint64_t>(seed));
            const CommGraph graph(std::move(copy));
            const Slots slots = *Slots::of(topology, graph.rank_count(), {.oversubscribe = true});
            const MapProblem problem{
                .graph = graph, .topology = topology, .slots = slots, .model = CostModel::bytes, .start = {}};
            const auto plain = run_mapper(*make_mapper("eager"), problem, MapRun{}, {.keep_worse = true});
            const auto load = run_mapper(*make_mapper("eager:load"), problem, MapRun{}, {.keep_worse = true});
            const auto balance = run_mapper(*make_mapper("eager:balance"), problem, MapRun{}, {.keep_worse = true});
            const double bound = load->load->bound;
            const Packing packing = pack(
                graph.loads(), std::vector<std::uint32_t>(topology.core_count(), graph.rank_count()), bound * 1.05);
            const bool can = packing.heaviest <= bound * 1.05;
            const double ratio = balance->cost / load->cost;
            ++total;
            possible += can;
            if (can && balance->load->imbalance() > 0.05) ++bad_balance;
            if (ratio > 1.1) ++bad_cost;
            if (balance->cost / plain->cost > 1.1) ++bad_plain;
            if (can && ratio > 1.1 && argc > 3)
              fmt::print(
                  "{} {} {} {}: load {:.3f} balance {:.3f} can {} ratio {:.3f} plain ratio {:.3f} ms {:.0f} {}\n", tree,
                  graph_name, kind, seed, load->load->imbalance(), balance->load->imbalance(), can, ratio,
                  balance->cost / plain->cost, balance->time_ms, balance->note);
            if (can) worst = std::max(worst, ratio);
            slowest = std::max(slowest, balance->time_ms);
            ratios.push_back(ratio);
          }
        }
      }
    }
  }
  double sum = 0;
  for (double r : ratios) sum += std::max(0.0, r - 1.1);
  fmt::print("excess {:.2f} ", sum);
  fmt::print("total {} possible {} bad balance {} bad cost {} bad vs plain {} worst {:.3f} slowest {:.0f} ms\n", total,
             possible, bad_balance, bad_cost, bad_plain, worst, slowest);
  return 0;
}
