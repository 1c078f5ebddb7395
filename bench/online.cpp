// SPDX-License-Identifier: Apache-2.0
// bench: what `rankloom online` costs: the mapper of a decision at 128 ranks (at most 1 ms), and the agent's CPU time
// in a run of 8 ranks with windows of 100 ms (at most 1 % of a core). Run: bench_online BIN
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/online/planner.hpp"

namespace {

using namespace rankloom;

/// Milliseconds of the median of many.
std::optional<double> mapper_time(const std::string& pattern, const std::string& machine) {
  auto profile = generate(pattern);
  const auto topology = load_topology(machine);
  if (!profile || !topology) return std::nullopt;
  const CommGraph graph = traffic(*std::move(profile), CollectiveModel::tree);
  const auto slots = Slots::of(*topology, graph.rank_count(), {.oversubscribe = true});
  const auto now = block_placement(graph.rank_count(), *topology, *slots);
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!fast_mapping(graph, *topology, now)) return std::nullopt;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

/// Percent of a core that the agent took beside the two-phase program.
std::optional<double> agent_share(const std::string& bin) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("rankloom-online-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string command = fmt::format(
      "cd '{0}' && mpicc.openmpi -O2 '{1}/../online/programs/two_phases.c' -o two_phases && "
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '{2}/rankloom' online -o online.json -t "
      "'package:2=1GB/s,1us core:4=10GB/s,200ns' -- mpirun.openmpi --oversubscribe --bind-to none --mca "
      "mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none -n 8 ./two_phases 6 1 >/dev/null 2>&1",
      folder.string(), RANKLOOM_TEST_DATA, bin);
  std::optional<double> share;
  if (std::system(command.c_str()) == 0) {
    std::ifstream file(folder / "online.json");
    const auto log = nlohmann::json::parse(file, nullptr, false);
    if (log.is_object() && !log["nodes"].empty()) {
      const auto& node = log["nodes"][0];
      share = 100 * node["agent_cpu_seconds"].get<double>() / node["seconds"].get<double>();
    }
  }
  std::filesystem::remove_all(folder);
  return share;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Goals goals;
  const std::string wide = "package:2=4 l3:4=2 core:16=1", narrow = "package:2=4 l3:2=2 core:8=1";
  goals.at_most("ms to map a shuffled 16x8 stencil on 128 cores", mapper_time("stencil2d:size=16x8,shuffle=true", wide),
                1.0, 0.5);
  goals.at_most("ms to map a random geometric graph of 128 ranks on 128 cores", mapper_time("rgg:ranks=128", wide), 1.0,
                0.5);
  goals.at_most("ms to map the same on 32 cores, by load", mapper_time("rgg:ranks=128,loads=zipf", narrow), 1.0, 0.5);
  goals.at_most("% of a core that the agent takes, 8 ranks, windows of 100 ms",
                argc > 1 ? agent_share(std::filesystem::absolute(argv[1]).string()) : std::nullopt, 1.0, 0.5);
  return bench::finish("online", goals.reached(), goals.sentence(), {{"figures", goals.figures()}});
}
