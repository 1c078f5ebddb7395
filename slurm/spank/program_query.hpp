// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: runs another program with a time limit and returns its output. A failure of that program cannot affect
// srun.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rankloom::spank {

struct QueryResult {
  std::string output;      ///< Standard output.
  std::string errors;      ///< Standard error, or the reason why the program failed.
  bool succeeded = false;  ///< The program ended with status 0 within the time limit.
};

/// Never throws and never leaves a zombie process.
QueryResult query_program(const std::vector<std::string>& argv, std::chrono::milliseconds time_limit) noexcept;

}  // namespace rankloom::spank
