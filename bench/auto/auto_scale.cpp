// SPDX-License-Identifier: Apache-2.0
// bench/auto: scalability of `auto`. bench_auto_scale [a] [b] [c] [--spec auto]; all three if none is given.
//   a  216³ = 10,077,696 ranks of a 27-point stencil on as many cores, generated, mapped, evaluated and written in one
//      process on 2 threads: seconds, memory, and cost relative to the regular tiling
//   b  time per edge of meshes with 2^22 vertices relative to 2^17
//   c  a mesh of 2^20 vertices on 2 threads and on 1; with 16 processors, one of 2^22 vertices, and 2^12 and 2^14 ranks
//      with one rank per core, on 16 threads and on 1: speed-up, and whether the mappings are equal
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/auto/measure.hpp"
#include "bench/auto/reference_instances.hpp"
#include "bench/auto/tilings.hpp"
#include "bench/verdict.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/files/mapping_file.hpp"

using namespace rankloom;
using namespace rankloom::bench;

namespace {

/// The figures that the child process sends to its parent.
struct HugeRun {
  double cost = 0, map_s = 0;
};

constexpr const char* huge_hierarchy = "8:8:729:216";
constexpr const char* huge_distance = "1:2:10:100";

std::optional<HugeRun> map_huge(const std::string& spec) {
  const ThreadLimit two_threads(2);
  const auto mapper = make_mapper(spec);
  auto profile = generate("stencil3d:size=216x216x216,points=27");
  if (!mapper || !profile) return std::nullopt;
  const Problem problem =
      problem_on("216^3", traffic(std::move(*profile), CollectiveModel::none), huge_hierarchy, huge_distance);
  const auto result = run_mapper(*mapper, problem.view(), MapRun{}, {.keep_worse = true});
  if (!result) return std::nullopt;
  const auto written = write_file("/dev/null", [&](Sink& sink) -> Result<void> {
    write_plain_mapping(result->mapping.cores(), sink);
    return {};
  });
  if (!written) return std::nullopt;
  return HugeRun{result->cost, result->time_ms / 1000};
}

void huge(const std::string& spec, Goals& goals) {
  const auto tiling = best_tiling({216, 216, 216}, {0, 100, 10, 1}, std::vector<std::uint64_t>{8, 8, 729, 216},
                                  std::vector<double>{1, 2, 10, 100});
  int ends[2];
  if (::pipe(ends) != 0) return;
  std::fflush(stdout);
  const double start = wall_seconds();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = map_huge(spec);
    ::_exit(run && ::write(ends[1], &*run, sizeof *run) == sizeof *run ? 0 : 1);
  }
  ::close(ends[1]);
  HugeRun run;
  const bool told = ::read(ends[0], &run, sizeof run) == sizeof run;
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  std::optional<double> seconds, gib, cost;
  if (told && status == 0) {
    seconds = wall_seconds() - start;
    gib = static_cast<double>(usage.ru_maxrss) / (1024 * 1024);
    cost = run.cost / tiling->cost;
    fmt::print("216^3 ranks on {}, {}: {:.1f} s, of them mapping {:.1f} s; {:.2f} GiB; J {:.0f}, tiling {:.0f}\n",
               huge_hierarchy, spec, *seconds, run.map_s, *gib, run.cost, tiling->cost);
  }
  goals.at_most("216^3 ranks on 2 threads, whole run: seconds", seconds, 180, 60);
  goals.at_most("216^3 ranks: GiB", gib, 14, 14);
  goals.at_most("216^3 ranks: J / J of the tiling", cost, 1.03, 1.01);
}

Problem mesh(const char* kind, unsigned power) {
  return problem_on(fmt::format("{} 2^{}", kind, power), *reference_graph(kind, 1U << power), "4:8:6", "1:10:100",
                    {.oversubscribe = true, .imbalance = 0.03});
}

std::optional<double> seconds_per_edge(const std::string& spec, const Problem& problem) {
  const auto measured = measure(spec, problem, {.max_runs = 3, .enough_s = 3});
  if (!measured) return std::nullopt;
  const double edges = static_cast<double>(problem.graph.edge_count()) / 2;
  fmt::print("{:<16}{:<20}{:>10.2f} s{:>12.0f} ns per edge   J {:.0f}\n", problem.name, spec, measured->cpu_s,
             1e9 * measured->cpu_s / edges, measured->cost);
  std::fflush(stdout);
  return measured->cpu_s / edges;
}

void growth(const std::string& spec, Goals& goals) {
  const ThreadLimit one_thread(1);
  for (const char* kind : {"grid3d", "rggmesh"}) {
    const auto small = seconds_per_edge(spec, mesh(kind, 17));
    const auto large = small ? seconds_per_edge(spec, mesh(kind, 22)) : std::nullopt;
    goals.at_most(fmt::format("{}: CPU time per edge at 2^22 vertices / at 2^17", kind),
                  large ? std::optional(*large / *small) : std::nullopt, 1.2, 1);
  }
}

/// One rank per core.
Problem ranks_on_cores(unsigned power) {
  return problem_on(fmt::format("rgg 2^{}", power), *reference_graph("rgg", 1U << power),
                    fmt::format("4:8:{}", (1U << power) / 32), "1:10:100");
}

struct SpeedupGoal {
  std::size_t threads;
  double must, aim;
};

void speedup(const std::string& spec, const Problem& problem, const SpeedupGoal& goal, Goals& goals) {
  std::vector<double> alone, together;
  bool same = true, busy = false;
  std::vector<Core> first;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t number : {std::size_t{1}, goal.threads}) {
      const ThreadLimit limit(number);
      const auto measured = measure(spec, problem, {.max_runs = 1});
      if (!measured) break;
      (number == 1 ? alone : together).push_back(measured->wall_s);
      if (first.empty()) first = measured->core_of;
      same &= measured->core_of == first;
      fmt::print("{} with {} on {} thread{}: {:.2f} s, CPU {:.2f} s\n", problem.name, spec, number,
                 number == 1 ? "" : "s", measured->wall_s, measured->cpu_s);
      busy |= number == 1 && measured->wall_s > 1.2 * measured->cpu_s;
      std::fflush(stdout);
    }
  }
  if (busy) fmt::print("warning: a thread had to wait for a core, so other programs disturb these times\n");
  std::optional<double> ratio, different;
  if (!together.empty()) {
    ratio = *std::min_element(alone.begin(), alone.end()) / *std::min_element(together.begin(), together.end());
    different = same ? 0 : 1;
  }
  const std::string what = fmt::format("{}, {}", problem.name, spec);
  goals.at_least(fmt::format("{}: wall time on 1 thread / on {} threads, fastest of 3", what, goal.threads), ratio,
                 goal.must, goal.aim);
  goals.at_most(fmt::format("{}: mappings on {} threads and on 1 differ (0: equal)", what, goal.threads), different, 0,
                0);
}

void threads(const std::vector<std::string>& specs, Goals& goals) {
  const std::size_t processors = thread_count();
  for (const std::string& spec : specs) {
    speedup(spec, mesh("rggmesh", 20), {.threads = 2, .must = 1.8, .aim = 1.9}, goals);
    if (processors < 16) continue;
    speedup(spec, mesh("rggmesh", 22), {.threads = 16, .must = 6, .aim = 12}, goals);
    for (const unsigned power : {12U, 14U})
      speedup(spec, ranks_on_cores(power), {.threads = 16, .must = 4, .aim = 8}, goals);
  }
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments(count, words);
  const bool all = !arguments.has("a") && !arguments.has("b") && !arguments.has("c");
  Goals goals;
  if (all || arguments.has("a")) huge(arguments.value("--spec", "auto:effort=fast"), goals);
  if (all || arguments.has("b")) growth(arguments.value("--spec", "auto:effort=fast"), goals);
  if (all || arguments.has("c")) {
    const std::string spec = arguments.value("--spec", "");
    threads(spec.empty() ? std::vector<std::string>{"auto:effort=fast", "auto"} : std::vector{spec}, goals);
  }
  return finish("auto_scale", goals.reached(), goals.sentence(), {{"goals", goals.figures()}});
}
