// SPDX-License-Identifier: Apache-2.0
// map/command: the result of an external mapper: one core number per line, line i for rank i.
#pragma once

#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// Reads and checks it: as many numbers as ranks, every core exists, and none has more ranks than its capacity. Errors
/// name the line. Lines that begin with # or % are comments. The block numbers of a partitioner are core numbers.
Result<std::vector<Core>> read_core_numbers(const FileContents& file, std::uint32_t ranks, const Topology& topology,
                                            const Capacities& capacities);

}  // namespace rankloom
