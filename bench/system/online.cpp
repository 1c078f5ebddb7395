// SPDX-License-Identifier: Apache-2.0
// bench/system: the overhead of `rankloom online`: the mapper of a decision for 128 ranks (at most 1 ms), the agent's
// CPU time in a run of 8 ranks with windows of 100 ms (at most 1 % of a core), and the slowdown of the program (at most
// 1 %). Run: bench_online BIN
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/online/online_planner.hpp"

namespace {

using namespace rankloom;

/// The median of many runs, in milliseconds.
std::optional<double> mapper_time(const std::string& pattern, const std::string& machine) {
  auto profile = generate(pattern);
  const auto topology = load_topology(machine);
  if (!profile || !topology) return std::nullopt;
  const CommGraph graph = traffic(*std::move(profile), CollectiveModel::tree);
  const auto capacities = Capacities::of(*topology, graph.rank_count(), {.oversubscribe = true});
  const auto now = block_placement(graph.rank_count(), *topology, *capacities);
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!fast_mapping(graph, *topology, now)) return std::nullopt;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

/// The CPU time of the agent during the two-phase program, in percent of a core.
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

struct Piece {
  double end = 0, cpu = 0;
};

/// Of `folder`, if the agent is there and knows its process id.
int agent_of(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& run : std::filesystem::directory_iterator(folder, error)) {
    if (!run.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator(run.path(), error)) {
      int process = 0;
      if (file.path().filename().string().starts_with("agent.") && std::ifstream(file.path()) >> process)
        return process;
    }
  }
  return 0;
}

double monotonic() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Slowdown {
  double percent = 0;  ///< Increase of the CPU time of equal pieces of work, in percent.
  double stolen = 0;   ///< CPU time of the agent in percent of a core; in the worst case one rank loses all of it.
  std::size_t pairs = 0;
};

/// In one run of the program, the agent is stopped and continued in turn, so that adjacent intervals differ by nothing
/// else. Measures CPU time, because other programs may use the machine.
std::optional<Slowdown> slowdown(const std::string& bin) {
  constexpr double seconds = 24, stretch = 0.4;
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("rankloom-slowdown-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string command = fmt::format(
      "cd '{0}' && mpicc.openmpi -O2 '{1}/online.c' -o pieces && OMPI_ALLOW_RUN_AS_ROOT=1 "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '{2}/rankloom' online -o online.json -t 'package:2=1GB/s,1us "
      "core:1=10GB/s,200ns' -- mpirun.openmpi --oversubscribe --bind-to none --mca btl_vader_single_copy_mechanism "
      "none -n 2 ./pieces {3} '{0}/pieces' >/dev/null 2>&1",
      folder.string(), RANKLOOM_BENCH_PROGRAMS, bin, seconds);
  std::thread program([&] { [[maybe_unused]] const int status = std::system(command.c_str()); });
  const double patience = monotonic() + 60;
  while (!std::filesystem::exists(folder / "pieces.1") && monotonic() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const int agent = agent_of(folder);
  std::vector<double> changes;  // the agent runs after the first change, is stopped after the second, and so on
  for (const double end = monotonic() + seconds - 1; agent > 0 && monotonic() < end;) {
    ::kill(agent, changes.size() % 2 == 0 ? SIGCONT : SIGSTOP);
    changes.push_back(monotonic());
    std::this_thread::sleep_for(std::chrono::duration<double>(stretch));
  }
  if (agent > 0) ::kill(agent, SIGCONT);
  program.join();
  std::vector<double> ratios;
  for (const int rank : {0, 1}) {
    std::vector<std::vector<double>> stretches(changes.size());
    std::ifstream file(folder / fmt::format("pieces.{}", rank));
    for (Piece piece; file >> piece.end >> piece.cpu;) {
      const auto next = std::upper_bound(changes.begin(), changes.end(), piece.end) - changes.begin();
      // Pieces at a change belong to both intervals.
      if (next > 0 && piece.end - changes[static_cast<std::size_t>(next) - 1] > 0.05)
        stretches[static_cast<std::size_t>(next) - 1].push_back(piece.cpu);
    }
    for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
      if (stretches[i].size() < 5 || stretches[i + 1].size() < 5) continue;
      const double first = median(stretches[i]), second = median(stretches[i + 1]);
      ratios.push_back(i % 2 == 0 ? first / second : second / first);
    }
  }
  std::ifstream file(folder / "online.json");
  const auto log = nlohmann::json::parse(file, nullptr, false);
  std::optional<Slowdown> found;
  if (ratios.size() >= 20 && log.is_object() && !log["nodes"].empty()) {
    const auto& node = log["nodes"][0];
    // The agent ran half of the time.
    const double stolen = 2 * 100 * node["agent_cpu_seconds"].get<double>() / node["seconds"].get<double>();
    found = Slowdown{100 * (median(ratios) - 1), stolen, ratios.size()};
    fmt::print("  median of {} adjacent intervals: {:+.2f} % CPU time per piece; the agent takes {:.2f} % of a core\n",
               found->pairs, found->percent, found->stolen);
  }
  std::filesystem::remove_all(folder);
  return found;
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
  const auto slower = argc > 1 ? slowdown(std::filesystem::absolute(argv[1]).string()) : std::nullopt;
  goals.at_most("% slowdown by the agent in the worst case, windows of 100 ms",
                slower ? std::optional(std::max(0.0, slower->percent) + slower->stolen) : std::nullopt, 1.0, 0.5);
  return bench::finish("online", goals.reached(), goals.sentence(), {{"figures", goals.figures()}});
}
