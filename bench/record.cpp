// SPDX-License-Identifier: Apache-2.0
// bench: what it costs a program to be recorded: messages of a rank to itself, and between two ranks, with and without the
// recorder in turn, the least of all runs. Must cost at most 40 ns a send, and at most 1.03 times a ping-pong of 8 B to
// 64 KB, by Open MPI and by MPICH. Run: bench_record BIN
#include <algorithm>
#include <array>
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

constexpr double most_nanoseconds = 40, most_ratio = 1.03;
constexpr int rounds = 7;

struct Mpi {
  std::string_view name, compiler, launcher;
};
constexpr std::array mpis{Mpi{"openmpi", "mpicc.openmpi", "mpirun.openmpi --allow-run-as-root --bind-to core"},
                          Mpi{"mpich", "mpicc.mpich", "mpiexec.mpich -bind-to core"}};

/// Nanoseconds that a run prints; 0 when it fails.
double run(const std::string& command) {
  std::FILE* const pipe = ::popen(("timeout 60 " + command + " 2>/dev/null").c_str(), "r");
  double value = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &value) != 1) value = 0;
  if (pipe != nullptr) ::pclose(pipe);
  return value;
}

struct Pair {
  double plain = 1e12, recorded = 1e12;
};

Pair measure(const Mpi& mpi, const std::string& folder, const std::string& library, int ranks, const std::string& how) {
  Pair least;
  for (int round = 0; round < rounds; ++round) {
    for (const bool recorded : {false, true}) {
      const std::string environment =
          recorded ? fmt::format("env LD_PRELOAD='{}' RANKLOOM_RECORD_OUT='{}/recording'", library, folder) : "env";
      const double time =
          run(fmt::format("{} -n {} {} '{}/{}' {}", mpi.launcher, ranks, environment, folder, mpi.name, how));
      double& best = recorded ? least.recorded : least.plain;
      if (time > 0) best = std::min(best, time);
    }
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return bench::finish("record", false, "usage: bench_record FOLDER_OF_RANKLOOM", {});
  const std::string folder = fmt::format("/tmp/rankloom-record-{}", ::getpid());
  std::filesystem::create_directories(folder);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  bool good = true;
  int measured = 0;
  nlohmann::json row;
  fmt::print("{:<8}  {:<28}  {:>10}  {:>10}  {:>10}\n", "MPI", "", "plain", "recorded", "");
  for (const Mpi& mpi : mpis) {
    const auto library = std::filesystem::absolute(fmt::format("{}/../lib/rankloom/librankloom_record_{}.so", argv[1], mpi.name));
    if (!std::filesystem::exists(library)) continue;
    const std::string build = fmt::format("{} -O2 '{}' -o '{}/{}'", mpi.compiler, RANKLOOM_RECORD_PROGRAM, folder, mpi.name);
    if (std::system(build.c_str()) != 0) continue;
    for (const char* const how : {"one", "three"}) {
      const Pair time = measure(mpi, folder, library.string(), 1, how);
      const double cost = time.recorded - time.plain;
      const bool counts = std::string_view(how) == "one";  // three calls send once, and are shown to be honest
      good = good && (!counts || cost <= most_nanoseconds);
      ++measured;
      fmt::print("{:<8}  {:<28}  {:>7.1f} ns  {:>7.1f} ns  {:>+7.1f} ns\n", mpi.name,
                 counts ? "to itself, MPI_Sendrecv" : "to itself, Isend Recv Wait", time.plain, time.recorded, cost);
      row[fmt::format("{}_{}_ns", mpi.name, how)] = cost;
    }
    for (const int bytes : {8, 512, 4096, 65536}) {
      const Pair time = measure(mpi, folder, library.string(), 2, fmt::format("{}", bytes));
      const double ratio = time.recorded / time.plain;
      good = good && ratio <= most_ratio;
      fmt::print("{:<8}  {:<28}  {:>7.0f} ns  {:>7.0f} ns  {:>9.3f}x\n", mpi.name, fmt::format("to and fro, {} B", bytes),
                 time.plain, time.recorded, ratio);
      row[fmt::format("{}_{}_ratio", mpi.name, bytes)] = ratio;
    }
  }
  std::filesystem::remove_all(folder);
  return bench::finish("record", good && measured > 0,
                       fmt::format("at most {} ns a send, at most {} x a ping-pong", most_nanoseconds, most_ratio), row);
}
