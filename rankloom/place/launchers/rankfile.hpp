// SPDX-License-Identifier: Apache-2.0
// place/launchers: rankfiles, with which all versions of Open MPI place and bind ranks. They differ in what a slot
// counts.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/place/launchers/launcher_files.hpp"

namespace rankloom {

enum class SlotNumbering : std::uint8_t {
  physical,  ///< The operating system's numbers of processing units.
  logical,   ///< The processing units of a host are counted in the order of the topology, as hwloc does.
};

/// What every rank has, in numbers of a rankfile, in ascending order. Cores of a virtual host that share a processing
/// unit have the same number.
IdVector<Rank, std::vector<std::uint32_t>> slots_of_ranks(const Deployment& deployment, SlotNumbering numbering);

/// "rankfile": lines of "rank 3=node1 slot=5" or "slot=0-3,8".
LauncherFile rankfile(const Deployment& deployment, const IdVector<Rank, std::vector<std::uint32_t>>& slots);

Result<MappingFile> read_physical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts);
Result<MappingFile> read_logical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts);

}  // namespace rankloom
