// SPDX-License-Identifier: Apache-2.0
// bench/recording: the overhead of recording: messages of a rank to itself and between two ranks, with and without
// counting in turn in the same process. Required: at most 40 ns per send and at most 1.03 times the time of a ping-pong
// of 8 B to 64 KB, with Open MPI and with MPICH. The figures are the medians over several processes. For comparison,
// the same is measured without a recorder, which must give 1, and with wrappers that do nothing. Run: bench_record BIN
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

constexpr double max_nanoseconds = 40, max_ratio = 1.03;
constexpr int rounds = 7;

struct Mpi {
  std::string_view name, compiler, launcher;
};
constexpr std::array mpis{Mpi{"openmpi", "mpicc.openmpi", "mpirun.openmpi --allow-run-as-root --bind-to core"},
                          Mpi{"mpich", "mpicc.mpich", "mpiexec.mpich -bind-to core"}};

/// What a process prints: nanoseconds a message, and the quotient of neighbouring batches. No plain time: it failed.
struct Figures {
  double plain = 0, wrapped = 0, ratio = 0;
};

Figures run(const std::string& command) {
  std::FILE* const pipe = ::popen(("timeout 60 " + command + " 2>/dev/null").c_str(), "r");
  Figures figures;
  if (pipe == nullptr || std::fscanf(pipe, "%lf %lf %lf", &figures.plain, &figures.wrapped, &figures.ratio) != 3)
    figures = {};
  if (pipe != nullptr) ::pclose(pipe);
  return figures;
}

/// The figures of several processes.
class Series {
 public:
  void add(const Figures& figures) {
    if (figures.plain <= 0) return;
    all_.push_back(figures);
    std::ranges::sort(all_, {}, &Figures::ratio);
  }
  bool is_empty() const { return all_.empty(); }
  Figures middle() const { return is_empty() ? Figures{} : all_[all_.size() / 2]; }
  /// How far the farthest process is from the middle one.
  double spread() const {
    return is_empty() ? 0 : std::max(all_.back().ratio - middle().ratio, middle().ratio - all_.front().ratio);
  }

 private:
  std::vector<Figures> all_;  // by ratio
};

struct Times {
  Series nothing, empty, recorded;
};

Times measure(const Mpi& mpi, const std::string& folder, const std::string& library, int ranks,
              const std::string& how) {
  Times times;
  const auto once = [&](const std::string& environment, Series& series) {
    series.add(run(fmt::format("{} -n {} env {} '{}/{}' {}", mpi.launcher, ranks, environment, folder, mpi.name, how)));
  };
  for (int round = 0; round < rounds; ++round) {
    once("", times.nothing);
    once(fmt::format("LD_PRELOAD='{}/empty.so'", folder), times.empty);
    once(fmt::format("LD_PRELOAD='{}' RANKLOOM_RECORD_OUT='{}/recording'", library, folder), times.recorded);
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return bench::finish("record", false, "usage: bench_record DIRECTORY_OF_RANKLOOM", {});
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
  fmt::print("{:<8}  {:<28}  {:>10}  {:>10}  {:>15}  {:>15}  {:>15}\n", "MPI", "", "plain", "recorded", "",
             "no recorder", "empty wrappers");
  for (const Mpi& mpi : mpis) {
    const auto library =
        std::filesystem::absolute(fmt::format("{}/../lib/rankloom/librankloom_record_{}.so", argv[1], mpi.name));
    if (!std::filesystem::exists(library)) continue;
    const std::string build =
        fmt::format("{} -O2 '{}/record.c' -o '{}/{}'", mpi.compiler, RANKLOOM_BENCH_PROGRAMS, folder, mpi.name);
    if (std::system(build.c_str()) != 0) continue;
    for (const char* const how : {"one", "three"}) {
      const Times times = measure(mpi, folder, library.string(), 1, how);
      const Figures figures = times.recorded.middle();
      const double cost = figures.wrapped - figures.plain;
      const bool counts = std::string_view(how) == "one";  // three calls send one message; for information only
      if (times.recorded.is_empty() || (counts && cost > max_nanoseconds))
        miss(fmt::format("{} to itself ({:.0f} ns)", mpi.name, cost));
      ++measured;
      fmt::print("{:<8}  {:<28}  {:>7.1f} ns  {:>7.1f} ns  {:>+12.1f} ns\n", mpi.name,
                 counts ? "to itself, MPI_Sendrecv" : "to itself, Isend Recv Wait", figures.plain, figures.wrapped,
                 cost);
      row[fmt::format("{}_{}_ns", mpi.name, how)] = cost;
    }
    for (const int bytes : {8, 512, 4096, 65536}) {
      const Times times = measure(mpi, folder, library.string(), 2, fmt::format("{}", bytes));
      if (times.nothing.is_empty() || times.empty.is_empty() || times.recorded.is_empty()) {
        miss(fmt::format("{} {} B (did not run)", mpi.name, bytes));
        continue;
      }
      const Figures figures = times.recorded.middle();
      const bool within = figures.ratio <= max_ratio;
      if (!within) miss(fmt::format("{} {} B ({:.3f} x)", mpi.name, bytes, figures.ratio));
      const auto show = [](const Series& series) {
        return fmt::format("{:.3f}x ± {:.3f}", series.middle().ratio, series.spread());
      };
      fmt::print("{:<8}  {:<28}  {:>7.0f} ns  {:>7.0f} ns  {:>15}  {:>15}  {:>15}  {}\n", mpi.name,
                 fmt::format("to and fro, {} B", bytes), figures.plain, figures.wrapped, show(times.recorded),
                 show(times.nothing), show(times.empty), within ? "" : "MISSED");
      row[fmt::format("{}_{}_ratio", mpi.name, bytes)] = figures.ratio;
      row[fmt::format("{}_{}_ratio_empty", mpi.name, bytes)] = times.empty.middle().ratio;
      row[fmt::format("{}_{}_ratio_nothing", mpi.name, bytes)] = times.nothing.middle().ratio;
      row[fmt::format("{}_{}_spread", mpi.name, bytes)] = times.recorded.spread();
    }
  }
  std::filesystem::remove_all(folder);
  return bench::finish(
      "record", good && measured > 0,
      fmt::format("at most {} ns per send, at most {} x the time of a ping-pong{}", max_nanoseconds, max_ratio, missed),
      row);
}
