// SPDX-License-Identifier: Apache-2.0
// apps: other programs: asking them, starting them, finding those that are ours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// What a command prints on both its outputs; nothing when it cannot be started.
std::string output_of(const std::vector<std::string>& words);

/// Runs the words as they are, without a shell, and hands on what they print, line by line; standard input is empty,
/// standard error stays ours. The value is the status as a shell tells it (128 + signal).
Result<int> run_lines(const std::vector<std::string>& words, const std::function<void(std::string_view)>& on_line);

/// Starts a program and waits for it; the value is its status as a shell tells it. Signals that end this program are
/// passed on. `environment` has "NAME=value"; output_to_errors sends its standard output to our errors.
Result<int> run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        bool output_to_errors);

/// What a launcher says of its version; nothing for any other program, which must not be started for this.
std::string launcher_version(const std::vector<std::string>& command);

/// "mpirun -n 4" as it can be typed.
std::string command_text(const std::vector<std::string>& words);

/// The file of this very program, and the name of the host that it is on.
std::string own_program();
std::string this_host();

/// A program or library of ours, beside this program as it was built or installed.
std::optional<std::string> find_beside(const std::string& file);

/// How to get a part of ours that is not there: its package where this program came in one, else what its build needs.
std::string remedy_for_part(std::string_view package, std::string_view needed);

/// The first of these variables that holds a number: a rank, in whatever launcher's words.
std::optional<std::uint64_t> first_number_of(const std::vector<const char*>& variables);

}  // namespace rankloom::app
