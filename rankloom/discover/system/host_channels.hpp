// SPDX-License-Identifier: Apache-2.0
// discover/system: the channels of a host that its cores share: network cards and the memory bus.
#pragma once

#include <cstdint>
#include <filesystem>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Memory channels with a module, as the drivers of the memory controllers (EDAC) count them; 0: unknown.
std::uint32_t count_memory_channels(const std::filesystem::path& root);
/// NUMA domains with processing units; 0: unknown.
std::uint32_t count_numa_domains(const std::filesystem::path& root);

/// The number of network cards as the width of the node, the rate of the slowest of them, and the number of memory
/// channels as the width of the bus. Without drivers of the memory controllers, four messages per NUMA domain are
/// assumed. What is unknown is left out. `root` is the folder that contains sys.
ChannelSpec read_host_channels(const std::filesystem::path& root);

}  // namespace rankloom
