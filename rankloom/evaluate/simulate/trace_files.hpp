// SPDX-License-Identifier: Apache-2.0
// evaluate: the files of a recorded trace, one for each rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// A trace by its folder (which holds smpi_simgrid.txt), by the file that lists its files, or one file that holds all
/// ranks. Fails when a file is missing, or there are not as many as ranks.
Result<std::vector<std::string>> trace_files(const std::string& path, std::uint32_t ranks);

}  // namespace rankloom
