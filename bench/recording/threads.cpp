// SPDX-License-Identifier: Apache-2.0
// bench/recording: the overhead of recording threads: an OpenMP stencil, compiled without instrumentation, by `rankloom
// cc` and with libtsan, run in turn. Required: at most 10 times the CPU time of the uninstrumented program. Run:
// bench_threads BIN
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/verdict.hpp"

namespace {

using namespace rankloom;

constexpr double wanted = 10.0;
constexpr int rounds = 7;

struct Variant {
  std::string_view name;
  std::string compiler;
  double seconds = 1e9;  ///< CPU time of the fastest run.
  bool built = false;
};

/// CPU seconds of a successful command.
std::optional<double> run(const std::string& command) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || ::wait4(child, &status, 0, &used) != child || status != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return bench::finish("threads", false, "usage: bench_threads DIRECTORY_OF_RANKLOOM", {});
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("rankloom-threads-{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::array<Variant, 3> variants{{{"plain", "gcc"},
                                   {"rankloom cc", fmt::format("'{}/rankloom' cc", argv[1])},
                                   {"libtsan", "gcc -fsanitize=thread"}}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].built = run(fmt::format("{} -O2 -fopenmp '{}/../threads/programs/stencil.c' -o '{}/{}' 2>&1 >/dev/null",
                                        variants[i].compiler, RANKLOOM_TEST_DATA, folder.string(), i))
                            .has_value();
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (!variants[i].built) continue;
      const auto seconds =
          run(fmt::format("cd '{}' && OMP_NUM_THREADS=2 RANKLOOM_THREADS_OUT=out.prof "
                          "TSAN_OPTIONS=report_bugs=0:atexit_sleep_ms=0:exitcode=0 exec ./{} 1000 100 >/dev/null 2>&1",
                          folder.string(), i));
      if (seconds) variants[i].seconds = std::min(variants[i].seconds, *seconds);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!variants[0].built || !variants[1].built)
    return bench::finish("threads", false, "the stencil could not be compiled; install gcc", {});

  fmt::print("stencil of 1000 x 512 points, 100 steps, 2 OpenMP threads, CPU time of the fastest of {} runs\n", rounds);
  for (const Variant& variant : variants) {
    if (variant.seconds < 1e9) {
      fmt::print("{:<14}{:>10.1f} ms{:>8.1f} x\n", variant.name, variant.seconds * 1e3,
                 variant.seconds / variants[0].seconds);
    } else {
      fmt::print("{:<14}  not available\n", variant.name);
    }
  }
  const double ratio = variants[1].seconds / variants[0].seconds;
  return bench::finish("threads", ratio <= wanted,
                       fmt::format("recording takes {:.1f} times as long (required: at most {:.0f})", ratio, wanted),
                       {{"plain_s", variants[0].seconds},
                        {"recorded_s", variants[1].seconds},
                        {"libtsan_s", variants[2].seconds < 1e9 ? nlohmann::json(variants[2].seconds) : nullptr},
                        {"ratio", ratio}});
}
