// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: another program asked, with a limit on the time. Its threads, memory and mistakes stay its own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rankloom::spank {

struct Answer {
  std::string output;   ///< Standard output.
  std::string errors;   ///< Standard error, or why there is no answer.
  bool usable = false;  ///< It ended by itself, with status 0.
};

/// Never throws and never leaves a process behind.
Answer ask(const std::vector<std::string>& words, std::chrono::milliseconds limit) noexcept;

}  // namespace rankloom::spank
