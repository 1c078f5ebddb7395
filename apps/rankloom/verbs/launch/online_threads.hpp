// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom online` for a program that no launcher starts: its threads are moved, if it records them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rankloom::app {

/// The first of these words that is a program with the thread recorder in it (`rankloom cc`).
std::optional<std::string> program_with_threads(const std::vector<std::string>& command);

}  // namespace rankloom::app
