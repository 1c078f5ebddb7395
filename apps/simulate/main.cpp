// SPDX-License-Identifier: Apache-2.0
// apps/simulate: rankloom-simulate REQUEST runs one simulation and prints the result as JSON. `rankloom` starts it; see
// rankloom/evaluate/simulate/simulate.hpp.
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "apps/simulate/replay.hpp"

using namespace rankloom;

namespace {

int print_error(const Error& error) {
  fmt::print(stderr, "{}\n", to_string(error));
  return static_cast<int>(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with rankloom, even if rankloom is killed
  if (argc != 2) {
    fmt::print(
        stderr,
        "usage: rankloom-simulate REQUEST\nReplays traces on a machine. `rankloom simulate` starts this program.\n");
    return static_cast<int>(Code::usage);
  }
  auto file = read_file(argv[1]);
  if (!file) return print_error(file.error());
  auto request = read_request(*file);
  if (!request) return print_error(request.error());
  auto result = replay(*request);
  if (!result) return print_error(result.error());
  const std::string text = write_result(*result);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : static_cast<int>(Code::environment);
}
