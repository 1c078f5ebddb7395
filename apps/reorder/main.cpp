// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-reorder, the process that maps for a running MPI program: it is started by the library that renumbers
// there (rankloom/place/reorder/library), not by people. `host` tells what is inside this host, `plan` answers a
// question from standard input. What goes wrong is in the answer or in the exit status: the program's outputs are not
// ours.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/prctl.h>
#include <unistd.h>

#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/reorder/answer.hpp"

namespace {

std::string read_all() {
  std::string all;
  std::array<char, 65536> block{};
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, block.data(), block.size())) > 0;)
    all.append(block.data(), static_cast<std::size_t>(got));
  return all;
}

int say(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return whole ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would hear the answer
  // The program's ranks spin on the other cores while they wait.
  const ThreadLimit one_thread(1);
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "host") {
    auto host = rankloom::discover_host({.bound = false});
    return host ? say(rankloom::write_machine_json(*host)) : EXIT_FAILURE;
  }
  if (word == "plan") {
    const char* const machine = std::getenv("RANKLOOM_TOPOLOGY");
    return say(rankloom::reorder::answer(read_all(), machine != nullptr ? machine : ""));
  }
  std::fputs("rankloom-reorder maps for programs that were started by `rankloom reorder`; see docs/reorder.md\n",
             stderr);
  return 2;
}
