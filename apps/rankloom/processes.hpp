// SPDX-License-Identifier: Apache-2.0
// apps: other programs: asking them, becoming or starting them.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// What a command prints on both its outputs; nothing when it cannot be started.
std::string output_of(const std::vector<std::string>& words);

/// Starts a program and waits for it; the value is its status as a shell tells it (128 + signal). Signals that end this
/// program are passed on. `environment` has "NAME=value"; output_to_errors sends its standard output to our errors.
Result<int> run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        bool output_to_errors);

/// What a launcher says of its version; nothing for any other program, which must not be started for this.
std::string launcher_version(const std::vector<std::string>& command);

/// A program of ours, beside this one as it was built or installed; empty when it is not there.
std::string program_beside(const std::string& name);

}  // namespace rankloom::app
