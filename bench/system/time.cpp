// SPDX-License-Identifier: Apache-2.0
// bench/system: whether programs run fastest under `auto` with the goal `predicted`: simulated times of applications
// and patterns on a cluster, a fat tree, a torus and a dragonfly, with all, three quarters and a third of the cores in
// use, compared with those under other mappers; how close the prediction is; how long the mapping takes.
//
//   bench_time [PROGRAMS] [PART OF A NAME] [--other]
//
// --other: other programs on other machines, with other numbers of free cores.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/system/simulated.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"
#include "rankloom/model/prediction/predict.hpp"

using namespace rankloom;

namespace {

struct Suite {
  std::vector<const char*> applications;
  std::vector<double> shares;  ///< Of the cores that are in use.
};

const Suite usual{
    {"bt.A.64", "cg.A.128", "ep.A.64", "gromacs.water.32", "hpcc.32", "lammps.lj.32", "lu.A.64", "mg.A.64", "sp.A.144",
     "openfoam.cavity3d.64", "openfoam.cavity3d-simple.64", "gen:stencil2d:size=12x12,block=256x256,shuffle",
     "gen:stencil3d:size=4x4x4,block=64x64x64", "gen:rgg:ranks=192,heaviest=100000"},
    {1.0, 0.75, 1.0 / 3}};
const Suite other{
    {"cg.W.8", "ft.W.8", "gen:sweep:size=10x12", "gen:cg:ranks=64,class=B", "gen:groups:groups=9,per-group=11,expanded",
     "gen:blocks:ranks=96,group=12,inside=200000,outside=100000,seed=3",
     "gen:random:ranks=80,degree=6,weights=random,heaviest=500000,seed=5",
     "gen:powerlaw:ranks=128,heaviest=100000,seed=2", "gen:rgg:ranks=120,heaviest=300000,seed=7",
     "gen:stencil2d:size=7x13,block=200x300,shuffle", "gen:stencil3d:size=5x4x6,block=40x40x40,shuffle"},
    {1.0, 0.6, 0.25}};
constexpr std::array others{"block",     "round-robin", "scotch", "metis",   "metis:pack",
                            "treematch", "clustering",  "eager",  "pe-500k", "greedy"};
constexpr std::uint32_t iterations = 4;

std::uint32_t whole(double number) {
  return static_cast<std::uint32_t>(std::ceil(number - 1e-9));
}

/// The smallest machine of a kind with at least this many cores.
std::string machine_of(std::string_view kind, double cores) {
  if (kind == "cluster") {  // of Wang 2015, as `reproduce wang-npb` simulates it
    const std::uint32_t nodes = whole(cores / 32);
    return fmt::format("switch:2=2.7GB/s,1.7us node:{}=3GB/s,1.3us core:16=5.5GB/s,300ns width:node=2,bus=4,switch={}",
                       nodes, 2 * nodes);
  }
  if (kind == "fat tree")  // two nodes share each uplink
    return fmt::format("fattree:4,{}/1,2=6GB/s,500ns core:16=8GB/s,200ns", std::max(2U, whole(cores / 64)));
  const double nodes = std::ceil(cores / 8 - 1e-9);
  if (kind == "dragonfly")
    return fmt::format("dragonfly:{},4,2=5GB/s,300ns core:8=8GB/s,200ns", std::max(2U, whole(nodes / 8)));
  const double x = std::max(2.0, std::floor(std::cbrt(nodes) + 0.5));
  const double y = std::max(2.0, std::floor(std::sqrt(nodes / x) + 0.5));
  return fmt::format("torus:{:.0f}x{:.0f}x{}=5GB/s,300ns core:8=8GB/s,200ns", x, y,
                     std::max(1U, whole(nodes / (x * y))));
}

std::string other_machine_of(std::string_view kind, double cores) {
  if (kind == "cluster") {
    return fmt::format("switch:3=10GB/s,1.5us node:{}=12GB/s,1us core:12=9GB/s,250ns width:bus=5,switch=2",
                       std::max(1U, whole(cores / 36)));
  }
  if (kind == "fat tree")
    return fmt::format("fattree:3,3,{}/1,2,2=4GB/s,700ns core:6=7GB/s,150ns", std::max(1U, whole(cores / 54)));
  if (kind == "dragonfly")
    return fmt::format("dragonfly:{},3,3=8GB/s,400ns core:4=6GB/s,200ns", std::max(2U, whole(cores / 36)));
  const double nodes = std::ceil(cores / 10 - 1e-9), x = std::max(1.0, std::floor(std::sqrt(nodes)));
  return fmt::format("torus:{:.0f}x{}=4GB/s,800ns core:10=9GB/s,200ns", x, std::max(2U, whole(nodes / x)));
}

struct Mapped {
  std::vector<Core> core_of;
  double seconds = 0;  ///< Of the mapper.
};

Mapped map(const char* mapper, CostModel model, const CommGraph& graph, const Topology& topology) {
  const Capacities capacities = *Capacities::of(topology, graph.rank_count(), {});
  const MapProblem problem{.graph = graph, .topology = topology, .capacities = capacities, .model = model, .start = {}};
  auto result = run_mapper(*make_mapper(mapper), problem, MapRun{}, {.keep_worse = true});
  return {{result->mapping.cores().begin(), result->mapping.cores().end()}, result->time_ms / 1000};
}

/// How close a prediction is to the simulation.
struct Accuracy {
  std::vector<double> errors;    ///< Relative, of each placement.
  std::vector<double> spearman;  ///< Of the placements of each instance.

  void add(const std::vector<double>& predicted, const std::vector<double>& simulated) {
    for (std::size_t at = 0; at < simulated.size(); ++at) errors.push_back(std::abs(predicted[at] / simulated[at] - 1));
    spearman.push_back(spearman_correlation(predicted, simulated));
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string simulator = fmt::format("{}/rankloom-simulate", argc > 1 ? argv[1] : "build/bin");
  const bool is_other = argc > 2 && std::string_view(argv[argc - 1]) == "--other";
  const std::string_view wanted = argc - is_other > 2 ? argv[2] : "";
  const Suite& suite = is_other ? other : usual;
  if (!std::filesystem::exists(simulator)) {
    fmt::print("this build has no SimGrid: install libsimgrid-dev and build again\n");
    return bench::finish("time", false, "nothing was simulated", {});
  }
  fmt::print("simulated time of the communication relative to block; the machine has just enough cores\n");
  fmt::print("the last columns: rank correlation of a prediction with the simulation\n");
  fmt::print("{:<30} {:<9} {:>4} {:>9} {:>9} {:>9} {:>9}  {:<11} {:>8} {:>8}\n", "application", "machine", "use",
             "bytes", "fast", "auto", "best", "of", "channels", "flows");
  std::vector<double> to_best, to_block;
  Accuracy channels, flows;
  std::map<std::string, double> took;
  for (const char* const application : suite.applications) {
    if (std::string_view(application).find(wanted) == std::string_view::npos) continue;
    const Profile profile = bench::load_application(application);
    const CommGraph graph = traffic(profile, CollectiveModel::tree);
    for (const char* const kind : {"cluster", "fat tree", "torus", "dragonfly"}) {
      for (const double share : suite.shares) {
        const Topology topology =
            *load_topology((is_other ? other_machine_of : machine_of)(kind, graph.rank_count() / share));
        std::vector<std::vector<Core>> placements;
        for (const char* const mapper : others)
          placements.push_back(map(mapper, CostModel::bytes, graph, topology).core_of);
        for (const char* const mapper : {"auto", "auto:effort=fast"}) {
          for (const CostModel model : {CostModel::bytes, CostModel::predicted}) {
            Mapped mapped = map(mapper, model, graph, topology);
            took[fmt::format("{} {}", mapper, info(model).name)] += mapped.seconds;
            placements.push_back(std::move(mapped.core_of));
          }
        }
        const auto simulated = bench::simulate_placements(profile, topology, placements, simulator, iterations);
        if (!simulated) {
          fmt::print(stderr, "{}\n", to_string(simulated.error()));
          return bench::finish("time", false, "a simulation failed", {});
        }
        const auto& seconds = simulated->seconds;
        const Platform platform = *Platform::of(topology);
        std::vector<double> by_channels, by_flows;
        for (const auto& placement : placements) {
          by_channels.push_back(predict(graph, platform, placement).seconds);
          by_flows.push_back(predict_by_flows(graph, platform, placement).value_or(by_channels.back()));
        }
        channels.add(by_channels, seconds);
        flows.add(by_flows, seconds);
        const auto best = std::min_element(seconds.begin(), seconds.begin() + others.size());
        const double block = seconds[0], of_auto = seconds[others.size() + 1];
        to_best.push_back(of_auto / *best);
        to_block.push_back(of_auto / block);
        fmt::print("{:<30.30} {:<9} {:>3.0f}% {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}  {:<11} {:>8.3f} {:>8.3f}\n",
                   application, kind, 100 * share, seconds[others.size()] / block, seconds[others.size() + 3] / block,
                   of_auto / block, *best / block, others[static_cast<std::size_t>(best - seconds.begin())],
                   channels.spearman.back(), flows.spearman.back());
      }
    }
  }
  if (to_best.empty()) return bench::finish("time", false, "no program has such a name", {});
  bench::Goals goals;
  goals.at_most("auto / best other mapper, geometric mean", geometric_mean(to_best), 0.98, 0.92);
  goals.at_most("auto / best other mapper, worst", *std::max_element(to_best.begin(), to_best.end()), 1.03, 1.0);
  goals.at_most("auto / block, worst", *std::max_element(to_block.begin(), to_block.end()), 1.005, 1.0);
  goals.at_least("prediction by flows: rank correlation with the simulation, median", median(flows.spearman), 0.95,
                 0.98);
  goals.at_most("prediction by flows: relative error, median", median(flows.errors), 0.15, 0.08);
  fmt::print("prediction by busiest channels: rank correlation {:.3f}, relative error {:.3f}, medians\n",
             median(channels.spearman), median(channels.errors));
  for (const std::string mapper : {"auto:effort=fast", "auto"}) {
    goals.at_most(fmt::format("time of {} under predicted / under bytes", mapper),
                  took[mapper + " predicted"] / took[mapper + " bytes"], 2, 1.3);
  }
  return bench::finish("time", goals.reached(), goals.sentence(), {{"figures", goals.figures()}});
}
