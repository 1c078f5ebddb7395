// SPDX-License-Identifier: Apache-2.0
// apps: main() of rankloom.
#include <csignal>
#include <cstdlib>

#include "apps/rankloom/command_line.hpp"

int main(int argc, char** argv) {
  // `rankloom … | head` ends quietly, whatever the parent process did with the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // What hwloc finds odd in a file is ours to say.
  ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
  return rankloom::app::CommandLine().run(argc, argv);
}
