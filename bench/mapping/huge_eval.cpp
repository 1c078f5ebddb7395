// SPDX-License-Identifier: Apache-2.0
// bench/mapping: a 27-point stencil of 216³ = 10,077,696 ranks, generated and evaluated by one command. Required: less
// than 10 GiB.
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/verdict.hpp"

int main(int, char** arguments) {
  const std::string program = std::string(arguments[1]) + "/rankloom";
  const char* const machine = "switch:216=100 node:729=10 package:8=2 core:8=1";  // 216 x 729 x 8 x 8 = 216³ cores
  fmt::print("rankloom eval block --profile gen:stencil3d:size=216x216x216,points=27 -t '{}'\n", machine);
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), "rankloom", "eval", "block", "--profile", "gen:stencil3d:size=216x216x216,points=27", "-t",
            machine, nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double gib = static_cast<double>(usage.ru_maxrss) / (1024 * 1024);
  const bool reached = WIFEXITED(status) && WEXITSTATUS(status) == 0 && gib < 10;
  return rankloom::bench::finish(
      "huge_eval", reached,
      fmt::format("10,077,696 ranks generated and evaluated in {:.1f} s with {:.2f} GiB (required: less than 10 GiB)",
                  seconds, gib),
      {{"seconds", seconds}, {"gib", gib}});
}
