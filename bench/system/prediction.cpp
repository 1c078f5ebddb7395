// SPDX-License-Identifier: Apache-2.0
// bench/system: whether the analytic prediction orders mappings as the simulation does: rank correlation over 54
// mappings of each of six applications; then the time of simulations, and whether they are deterministic.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "bench/system/simulated.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/prediction/predict.hpp"

using namespace rankloom;

namespace {

struct Case {
  const char* name;
  const char* machine;
};

/// On the cluster of Wang 2015, and on networks.
constexpr const char* cluster = "switch:2=4.1,1.3us node:6=3.7,1us core:16=1,100ns";
constexpr std::array<Case, 6> cases{
    {{"bt.A.64", cluster},
     {"sp.A.144", cluster},
     {"cg.A.128", cluster},
     {"mg.A.64", "torus:4x4=2,500ns core:8=1,100ns"},
     {"openfoam.cavity3d.64", "fattree:4,4/2,1=2,500ns core:8=1,100ns"},
     {"gen:stencil3d:size=4x4x4,block=64x64x64", "dragonfly:4,2,2=2,500ns core:8=1,100ns"}}};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The results of mappers, the block placement with more and more ranks exchanged, and random placements.
std::vector<std::vector<Core>> mappings(const CommGraph& graph, const Topology& topology) {
  const Capacities capacities = *Capacities::of(topology, graph.rank_count(), {});
  const MapProblem problem{
      .graph = graph, .topology = topology, .capacities = capacities, .model = CostModel::bytes, .start = {}};
  std::vector<std::vector<Core>> all;
  for (const char* const mapper : {"block", "round-robin", "greedy", "auto"}) {
    const auto result = run_mapper(*make_mapper(mapper), problem, MapRun{}, {.keep_worse = true});
    all.emplace_back(result->mapping.cores().begin(), result->mapping.cores().end());
  }
  const std::vector<Core> best = all.back();
  for (std::uint64_t i = 0; i < 40; ++i) {
    Random random(1, i);
    std::vector<Core> moved = i % 2 == 0 ? best : all[0];
    for (std::uint64_t swaps = 1 + i * graph.rank_count() / 80; swaps > 0; --swaps)
      std::swap(moved[random.below(moved.size())], moved[random.below(moved.size())]);
    all.push_back(std::move(moved));
  }
  for (std::uint64_t i = 0; i < 10; ++i) {
    Random random(2, i);
    std::vector<Core> cores;
    for (const Core core : topology.cores()) cores.push_back(core);
    random.shuffle(std::span(cores));
    cores.resize(graph.rank_count());
    all.push_back(std::move(cores));
  }
  return all;
}

struct Times {
  std::vector<double> predicted, simulated, cost;
  double seconds = 0;
};

Times times_of(const Case& about, const std::string& helper) {
  const Profile profile = bench::load_application(about.name);
  const Topology topology = *load_topology(about.machine);
  const CommGraph graph = traffic(profile, CollectiveModel::tree);
  const auto placements = mappings(graph, topology);
  const Platform platform = *Platform::of(topology);
  Times times;
  const auto begin = std::chrono::steady_clock::now();
  const auto results = bench::simulate_placements(profile, topology, placements, helper, 1);
  times.seconds = seconds_since(begin);
  if (!results) {
    fmt::print(stderr, "{}\n", to_string(results.error()));
    return times;
  }
  for (std::size_t i = 0; i < placements.size(); ++i) {
    times.predicted.push_back(predict(graph, platform, placements[i]).seconds);
    times.cost.push_back(evaluate(graph, topology, placements[i], CostModel::time));
    times.simulated.push_back(results->seconds[i]);
  }
  return times;
}

/// The time to simulate 64 ranks under 6 mappings, and 1,024 ranks.
double time_to_simulate(const char* pattern, const char* machine, std::size_t count, const std::string& helper,
                        std::vector<double>& seconds) {
  const Profile profile = bench::load_application(pattern);
  const Topology topology = *load_topology(machine);
  const CommGraph graph = traffic(profile, CollectiveModel::tree);
  auto placements = mappings(graph, topology);
  placements.resize(count);
  const auto begin = std::chrono::steady_clock::now();
  const auto results = bench::simulate_placements(profile, topology, placements, helper, 1);
  const double took = seconds_since(begin);
  if (results) seconds = results->seconds;
  return results ? took : 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string helper = fmt::format("{}/rankloom-simulate", argc > 1 ? argv[1] : "build/bin");
  if (!std::filesystem::exists(helper)) {
    fmt::print("this build has no SimGrid: install libsimgrid-dev and build again\n");
    return bench::finish("prediction", false, "nothing was simulated", {});
  }
  fmt::print("rank correlation with the simulation over 54 mappings (one round, seed fixed)\n");
  fmt::print("{:<38} {:<26} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "application", "machine", "Spearman",
             "Kendall", "cost's Sp.", "cost's K.", "spread", "took");
  nlohmann::json rows;
  double least = 1, mean = 0;
  for (const Case& about : cases) {
    const Times times = times_of(about, helper);
    if (times.simulated.empty()) return bench::finish("prediction", false, "a simulation failed", {});
    const double spearman = spearman_correlation(times.predicted, times.simulated);
    const double kendall = kendall_correlation(times.predicted, times.simulated);
    const auto [quickest, slowest] = std::minmax_element(times.simulated.begin(), times.simulated.end());
    fmt::print("{:<38} {:<26} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>9.1f}x {:>7.1f}s\n", about.name,
               std::string(about.machine).substr(0, 26), spearman, kendall,
               spearman_correlation(times.cost, times.simulated), kendall_correlation(times.cost, times.simulated),
               *slowest / *quickest, times.seconds);
    rows.push_back(
        {{"application", about.name}, {"machine", about.machine}, {"spearman", spearman}, {"kendall", kendall}});
    least = std::min(least, spearman);
    mean += spearman / static_cast<double>(cases.size());
  }
  std::vector<double> once, again, large;
  const double small_seconds = time_to_simulate("bt.A.64", cluster, 6, helper, once);
  time_to_simulate("bt.A.64", cluster, 6, helper, again);
  const double large_seconds = time_to_simulate("gen:stencil3d:size=8x8x16,block=32x32x32",
                                                "torus:4x4x4=1,1us core:16=1,100ns", 1, helper, large);
  bench::Goals goals;
  goals.at_most("64 ranks under 6 mappings, seconds", small_seconds, 10, 5);
  goals.at_most("1,024 ranks, 26 partners each, one round, seconds", large_seconds, 60, 30);
  goals.at_most("difference between two simulations of the same mapping", once == again ? 0.0 : 1.0, 0, 0);
  goals.at_least("Spearman's correlation, mean of the applications", mean, 0.8, 0.95);
  goals.at_least("Spearman's correlation, minimum of the applications", least, 0.6, 0.9);
  return bench::finish("prediction", goals.reached(), goals.sentence(),
                       {{"correlation", rows}, {"figures", goals.figures()}});
}
