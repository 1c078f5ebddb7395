// SPDX-License-Identifier: Apache-2.0
// bench: what it costs a program to be recorded: messages of a rank to itself, and between two ranks, with and without
// the recorder in turn, the least of all runs. Must cost at most 40 ns a send, and at most 1.03 times a ping-pong of 8
// B to 64 KB, by Open MPI and by MPICH. Beside it stands what wrappers cost that do nothing, as a yardstick and no
// excuse: a size where those alone take more than 1.03 times is missed all the same, and the table says why.
// What follows ± is how far the middle run is from the least. Run: bench_record BIN
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
constexpr int rounds = 11;

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

/// Nanoseconds of several runs of the same.
class Series {
 public:
  void add(double time) {
    if (time > 0) times_.insert(std::upper_bound(times_.begin(), times_.end(), time), time);
  }
  bool is_empty() const { return times_.empty(); }
  double least() const { return times_.empty() ? 0 : times_.front(); }
  double spread() const { return times_.empty() ? 0 : times_[times_.size() / 2] / times_.front() - 1; }

 private:
  std::vector<double> times_;  // ascending
};

struct Times {
  Series plain, empty, recorded;
  double ratio(const Series& series) const { return series.least() / plain.least(); }
  double spread(const Series& series) const { return std::max(series.spread(), plain.spread()); }
};

Times measure(const Mpi& mpi, const std::string& folder, const std::string& library, int ranks,
              const std::string& how) {
  Times times;
  const auto once = [&](const std::string& environment, Series& series) {
    series.add(run(fmt::format("{} -n {} env {} '{}/{}' {}", mpi.launcher, ranks, environment, folder, mpi.name, how)));
  };
  for (int round = 0; round < rounds; ++round) {
    once("", times.plain);
    if (ranks > 1) once(fmt::format("LD_PRELOAD='{}/empty.so'", folder), times.empty);
    once(fmt::format("LD_PRELOAD='{}' RANKLOOM_RECORD_OUT='{}/recording'", library, folder), times.recorded);
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return bench::finish("record", false, "usage: bench_record FOLDER_OF_RANKLOOM", {});
  const std::string folder = fmt::format("/tmp/rankloom-record-{}", ::getpid());
  std::filesystem::create_directories(folder);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  bool good = std::system(fmt::format("gcc -O2 -shared -fPIC '{}/empty_wrapper.c' -o '{}/empty.so'",
                                      RANKLOOM_BENCH_PROGRAMS, folder)
                              .c_str()) == 0;
  int measured = 0;
  std::string missed;
  const auto miss = [&](const std::string& what) {
    good = false;
    missed += (missed.empty() ? "; missed: " : ", ") + what;
  };
  nlohmann::json row;
  fmt::print("{:<8}  {:<28}  {:>10}  {:>10}  {:>15}  {:>15}\n", "MPI", "", "plain", "recorded", "", "empty wrappers");
  for (const Mpi& mpi : mpis) {
    const auto library =
        std::filesystem::absolute(fmt::format("{}/../lib/rankloom/librankloom_record_{}.so", argv[1], mpi.name));
    if (!std::filesystem::exists(library)) continue;
    const std::string build =
        fmt::format("{} -O2 '{}/record.c' -o '{}/{}'", mpi.compiler, RANKLOOM_BENCH_PROGRAMS, folder, mpi.name);
    if (std::system(build.c_str()) != 0) continue;
    for (const char* const how : {"one", "three"}) {
      const Times times = measure(mpi, folder, library.string(), 1, how);
      const double cost = times.recorded.least() - times.plain.least();
      const bool counts = std::string_view(how) == "one";  // three calls send once, and are shown to be honest
      if (times.plain.is_empty() || times.recorded.is_empty() || (counts && cost > most_nanoseconds))
        miss(fmt::format("{} to itself ({:.0f} ns)", mpi.name, cost));
      ++measured;
      fmt::print("{:<8}  {:<28}  {:>7.1f} ns  {:>7.1f} ns  {:>+12.1f} ns\n", mpi.name,
                 counts ? "to itself, MPI_Sendrecv" : "to itself, Isend Recv Wait", times.plain.least(),
                 times.recorded.least(), cost);
      row[fmt::format("{}_{}_ns", mpi.name, how)] = cost;
    }
    for (const int bytes : {8, 512, 4096, 65536}) {
      const Times times = measure(mpi, folder, library.string(), 2, fmt::format("{}", bytes));
      if (times.plain.is_empty() || times.empty.is_empty() || times.recorded.is_empty()) {
        miss(fmt::format("{} {} B (did not run)", mpi.name, bytes));
        continue;
      }
      const double ratio = times.ratio(times.recorded), empty = times.ratio(times.empty);
      std::string_view verdict = "";
      if (ratio > most_ratio) {
        verdict = empty > most_ratio ? "MISSED, as by wrappers that do nothing" : "MISSED";
        miss(fmt::format("{} {} B ({:.3f} x; wrappers that do nothing {:.3f} x{})", mpi.name, bytes, ratio, empty,
                         empty > most_ratio ? ", more than that themselves" : ""));
      }
      fmt::print("{:<8}  {:<28}  {:>7.0f} ns  {:>7.0f} ns  {:.3f}x ± {:.3f}  {:.3f}x ± {:.3f}  {}\n", mpi.name,
                 fmt::format("to and fro, {} B", bytes), times.plain.least(), times.recorded.least(), ratio,
                 times.spread(times.recorded), empty, times.spread(times.empty), verdict);
      row[fmt::format("{}_{}_ratio", mpi.name, bytes)] = ratio;
      row[fmt::format("{}_{}_ratio_empty", mpi.name, bytes)] = empty;
      row[fmt::format("{}_{}_spread", mpi.name, bytes)] = times.spread(times.recorded);
    }
  }
  std::filesystem::remove_all(folder);
  return bench::finish(
      "record", good && measured > 0,
      fmt::format("at most {} ns a send, at most {} x a ping-pong{}", most_nanoseconds, most_ratio, missed), row);
}
