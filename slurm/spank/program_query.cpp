// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: runs another program with a time limit and returns its output.
#include "slurm/spank/program_query.hpp"

#include "rankloom/core/system/process.hpp"

namespace rankloom::spank {

namespace {

QueryResult run_query(const std::vector<std::string>& argv, std::chrono::milliseconds time_limit) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.reset_signals = true;  // srun blocks signals, which the program must not inherit
  ProcessOptions options;
  options.capture_output = true;
  options.capture_errors = true;
  options.time_limit = time_limit;
  ProcessResult result = run_process(spec, options);
  QueryResult query;
  query.succeeded = result.succeeded();
  query.output = std::move(result.output);
  query.errors = result.message.empty() ? std::move(result.errors) : std::move(result.message);
  if (!query.succeeded && query.errors.empty()) query.errors = argv[0] + " failed without an error message";
  return query;
}

}  // namespace

QueryResult query_program(const std::vector<std::string>& argv, std::chrono::milliseconds time_limit) noexcept {
  try {
    return run_query(argv, time_limit);
  } catch (...) {
    return {};
  }
}

}  // namespace rankloom::spank
