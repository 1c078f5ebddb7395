// SPDX-License-Identifier: Apache-2.0
// apps: starts a command and reads what it says, line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// Runs the words as they are, without a shell; standard input is empty, standard error stays ours. The value is the
/// exit status, 128 + n for signal n.
Result<int> run_lines(const std::vector<std::string>& words, const std::function<void(std::string_view)>& on_line);

/// "mpirun -n 4" as it can be typed.
std::string command_text(const std::vector<std::string>& words);

/// The file of this very program.
std::string own_program();

/// rankloom-probe for an MPI ("openmpi", "mpich", "default"): beside this program, as it was built or installed.
std::optional<std::string> find_probe(const std::string& mpi);

/// The first of these variables that holds a number: a rank, in whatever launcher's words.
std::optional<std::uint64_t> first_number_of(const std::vector<const char*>& variables);

}  // namespace rankloom::app
