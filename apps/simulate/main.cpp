// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-simulate REQUEST: one simulation, its result as JSON. `rankloom` starts it; see
// rankloom/evaluate/simulate/simulate.hpp.
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "apps/simulate/replay.hpp"

using namespace rankloom;

namespace {

int show(const Error& error) {
  fmt::print(stderr, "{}\n", to_string(error));
  return static_cast<int>(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody wants the answer of a question whose asker is gone
  if (argc != 2) {
    fmt::print(stderr, "rankloom-simulate REQUEST: replays traces on a machine; `rankloom simulate` starts it\n");
    return static_cast<int>(Code::usage);
  }
  auto file = read_file(argv[1]);
  if (!file) return show(file.error());
  auto request = read_request(*file);
  if (!request) return show(request.error());
  auto result = replay(*request);
  if (!result) return show(result.error());
  const std::string text = write_result(*result);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : static_cast<int>(Code::environment);
}
