// SPDX-License-Identifier: Apache-2.0
// apps: other programs: run as the user would run them, or asked a question.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom::app {

using CommandWords = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs a command to its end with this added to its environment. The value is its exit status as a shell shows it: 128
/// and more for signals. Signals from the terminal go to the command, not to us; others are handed on to it. With
/// `quiet`, what it prints on standard output goes to standard error.
Result<int> run_command(const CommandWords& words, const Environment& environment, bool quiet);

/// What a command prints on standard output and, if asked for, on standard error; empty if it cannot be run.
std::string output_of(const CommandWords& words, bool with_errors = false);

}  // namespace rankloom::app
