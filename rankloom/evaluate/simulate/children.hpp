// SPDX-License-Identifier: Apache-2.0
// evaluate: processes that work beside each other: each reads one file, writes another, and has a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct Child {
  std::vector<std::string> words;  ///< The program and its arguments.
  std::string output;              ///< The file that its standard output goes to.
  std::string errors;              ///< The same for its standard error.
};

struct ChildEnd {
  int status = 0;  ///< As a shell tells it: 128 + signal.
  bool timed_out = false;
  double seconds = 0;
};

/// Runs them all, at most at_once side by side, until the first that does not end with 0 or in time; those that are
/// left then are ended. on_end(done) is called after each, and every tenth of a second.
Result<std::vector<ChildEnd>> run_children(const std::vector<Child>& children, std::uint32_t at_once,
                                           std::chrono::milliseconds time_limit,
                                           const std::function<void(std::size_t done)>& on_end);

}  // namespace rankloom
