// SPDX-License-Identifier: Apache-2.0
// bench/recording: what recording adds to the start and the end of a program, by the number of ranks. The recorder does
// not communicate: each rank creates and closes one file. A program without messages runs alternately with and without
// the recorder. Required: at the start the recorder needs at most 2 ms of processor time in each rank, with any number
// of ranks. The times of the whole runs, which contain the start of MPI and depend on the load of the machine, are for
// information. Run: bench_startup BIN [RANKS…]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/verdict.hpp"

namespace {

using namespace rankloom;

constexpr double max_milliseconds = 2;

struct Mpi {
  std::string_view name, compiler, launcher;
};
constexpr std::array mpis{
    Mpi{"openmpi", "mpicc.openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1"},
    Mpi{"mpich", "mpicc.mpich", "mpiexec.mpich"}};

/// One run: seconds from the start to the end, and the milliseconds that the program prints; negative: it failed.
struct Run {
  double seconds = -1, milliseconds = -1;
};

Run run(const std::string& command) {
  Run result;
  const auto begin = std::chrono::steady_clock::now();
  std::FILE* const pipe = ::popen(("timeout 300 " + command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &result.milliseconds) != 1) result.milliseconds = -1;
  if (pipe != nullptr) ::pclose(pipe);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? -1 : values[values.size() / 2];
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
  if (sizes.empty()) sizes = {8, 32, 128};
  constexpr int pairs = 3;
  const std::string folder = fmt::format("/tmp/rankloom-startup-{}", ::getpid());
  std::filesystem::create_directories(folder);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  nlohmann::json row;
  double worst = 0;
  bool good = true;
  int measured = 0;
  fmt::print("{:<8}  {:>6}  {:>10}  {:>10}  {:>22}\n", "MPI", "ranks", "plain", "recorded", "recorder in each rank");
  for (const Mpi& mpi : mpis) {
    const auto library =
        std::filesystem::absolute(fmt::format("{}/../lib/rankloom/librankloom_record_{}.so", argv[1], mpi.name));
    const std::string program = fmt::format("{}/{}", folder, mpi.name);
    const std::string build =
        fmt::format("{} -O2 '{}/startup.c' -o '{}'", mpi.compiler, RANKLOOM_BENCH_PROGRAMS, program);
    if (!std::filesystem::exists(library) || std::system(build.c_str()) != 0) continue;
    for (const int ranks : sizes) {
      std::vector<double> plain, recorded, milliseconds;
      for (int pair = 0; pair < pairs; ++pair) {
        for (const bool with : {pair % 2 == 0, pair % 2 != 0}) {
          const std::string environment =
              with ? fmt::format("LD_PRELOAD='{}' RANKLOOM_RECORD_OUT='{}/recording'", library.string(), folder)
                   : "A=1";
          const Run one = run(fmt::format("{} -n {} env {} '{}'", mpi.launcher, ranks, environment, program));
          good = good && one.milliseconds >= 0;
          (with ? recorded : plain).push_back(one.seconds);
          if (with) milliseconds.push_back(one.milliseconds);
          remove_pieces(folder);
        }
      }
      worst = std::max(worst, median(milliseconds));
      ++measured;
      fmt::print("{:<8}  {:>6}  {:>8.2f} s  {:>8.2f} s  {:>19.3f} ms\n", mpi.name, ranks, median(plain),
                 median(recorded), median(milliseconds));
      row[fmt::format("{}_{}_ms", mpi.name, ranks)] = median(milliseconds);
    }
  }
  std::filesystem::remove_all(folder);
  good = good && measured > 0 && worst <= max_milliseconds;
  return bench::finish("startup", good,
                       fmt::format("at the start the recorder needs at most {:.2f} ms in each rank (required: {} ms)",
                                   worst, max_milliseconds),
                       row);
}
