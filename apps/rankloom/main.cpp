// SPDX-License-Identifier: Apache-2.0
// apps: main() of rankloom.
#include <csignal>
#include <cstdlib>

#include "apps/rankloom/command_line.hpp"

int main(int argc, char** argv) {
  // `rankloom … | head` ends silently, even if the parent process ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // Beyond `ulimit -f`, writing returns an error instead of ending the program. A handler, because child processes
  // would inherit an ignored signal.
  std::signal(SIGXFSZ, [](int) {});
  // hwloc must not print its own messages about malformed files: they become errors of rankloom.
  ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
  return rankloom::app::run_command_line(argc, argv);
}
