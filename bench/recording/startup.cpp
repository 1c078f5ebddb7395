// SPDX-License-Identifier: Apache-2.0
// bench/recording: what recording adds to the start and the end of a program, by the number of ranks. A program that
// only calls MPI_Init and MPI_Finalize runs alternately with and without the recorder. The ranks do not communicate for
// the recorder, so the addition must not grow faster than the number of ranks that share a core. Required: at most 1.15
// times the time of the program, with every number of ranks; the figures are medians of pairs of adjacent runs.
// Run: bench_startup BIN [RANKS…]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/verdict.hpp"

namespace {

using namespace rankloom;

constexpr double max_ratio = 1.15;

struct Mpi {
  std::string_view name, compiler, launcher;
};
constexpr std::array mpis{
    Mpi{"openmpi", "mpicc.openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1"},
    Mpi{"mpich", "mpicc.mpich", "mpiexec.mpich"}};

/// Seconds of a command; negative: it failed.
double seconds_of(const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  const int status = std::system(("timeout 300 " + command + " >/dev/null 2>&1").c_str());
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return status == 0 ? time.count() : -1;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

void remove_pieces(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("recording.")) std::filesystem::remove(entry.path());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return bench::finish("startup", false, "usage: bench_startup DIRECTORY_OF_RANKLOOM [RANKS…]", {});
  std::vector<int> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {8, 32, 64, 128};
  const std::string folder = fmt::format("/tmp/rankloom-startup-{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/program.c")
      << "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n";
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  nlohmann::json row;
  double worst = 0;
  bool good = true;
  int measured = 0;
  fmt::print("{:<8}  {:>6}  {:>10}  {:>10}  {:>6}  {:>16}\n", "MPI", "ranks", "plain", "recorded", "ratio",
             "added per rank");
  for (const Mpi& mpi : mpis) {
    const auto library =
        std::filesystem::absolute(fmt::format("{}/../lib/rankloom/librankloom_record_{}.so", argv[1], mpi.name));
    const std::string program = fmt::format("{}/{}", folder, mpi.name);
    if (!std::filesystem::exists(library) ||
        std::system(fmt::format("{} -O2 '{}/program.c' -o '{}'", mpi.compiler, folder, program).c_str()) != 0)
      continue;
    for (const int ranks : sizes) {
      const int pairs = ranks <= 32 ? 7 : ranks <= 128 ? 5 : 3;
      std::vector<double> plain, recorded, ratios;
      for (int pair = 0; pair < pairs; ++pair) {
        const auto run = [&](bool with) {
          const std::string environment =
              with ? fmt::format("LD_PRELOAD='{}' RANKLOOM_RECORD_OUT='{}/recording'", library.string(), folder)
                   : "A=1";
          const double time =
              seconds_of(fmt::format("{} -n {} env {} '{}'", mpi.launcher, ranks, environment, program));
          (with ? recorded : plain).push_back(time);
          good = good && time > 0;
          remove_pieces(folder);
        };
        run(pair % 2 == 1);
        run(pair % 2 == 0);
        ratios.push_back(recorded.back() / plain.back());
      }
      const double ratio = median(ratios);
      worst = std::max(worst, ratio);
      ++measured;
      fmt::print("{:<8}  {:>6}  {:>8.2f} s  {:>8.2f} s  {:>6.3f}  {:>13.2f} ms\n", mpi.name, ranks, median(plain),
                 median(recorded), ratio, 1e3 * (median(recorded) - median(plain)) / ranks);
      row[fmt::format("{}_{}", mpi.name, ranks)] = ratio;
    }
  }
  std::filesystem::remove_all(folder);
  good = good && measured > 0 && worst <= max_ratio;
  return bench::finish(
      "startup", good,
      fmt::format("start and end take at most {:.3f} times as long with the recorder (required: {})", worst, max_ratio),
      row);
}
