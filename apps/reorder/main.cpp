// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-reorder, the helper process that maps for a running MPI program. The reorder library inside the
// program (rankloom/place/reorder/library) starts it. `rankloom-reorder host` prints the topology of this host;
// `rankloom-reorder reorder` reads a request from standard input and writes the reply. Errors are reported in the reply
// or by the exit status, because standard error belongs to the program.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/prctl.h>
#include <unistd.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/reorder/request_handler.hpp"

namespace {

std::string read_all() {
  std::string all;
  std::array<char, 65536> block{};
  for (ssize_t count = 0; (count = ::read(STDIN_FILENO, block.data(), block.size())) > 0;)
    all.append(block.data(), static_cast<std::size_t>(count));
  return all;
}

int write_output(std::string_view text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return complete ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // without the program, no process reads the reply
  // The ranks of the program poll on the other cores while they wait, so the mapper uses one thread.
  const rankloom::ThreadLimit one_thread(1);
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (argument == "host") {
    auto host = rankloom::discover_host({.bound = false});
    return host ? write_output(rankloom::write_machine_json(*host)) : EXIT_FAILURE;
  }
  if (argument == "reorder") {
    const char* const machine = std::getenv("RANKLOOM_TOPOLOGY");
    return write_output(rankloom::reorder::handle_request(read_all(), machine != nullptr ? machine : ""));
  }
  std::fputs("rankloom-reorder is started by programs that run under `rankloom reorder`; see docs/reorder.md\n",
             stderr);
  return 2;
}
