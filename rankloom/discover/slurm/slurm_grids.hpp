// SPDX-License-Identifier: Apache-2.0
// discover/slurm: machines of rings and tori, as topology/ring and topology/torus3d of Slurm describe them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// A ring (one size) or a torus. Each cell contains one host or none.
struct GridEntry {
  std::string name;
  std::vector<std::uint32_t> sizes;  ///< The last coordinate changes fastest.
  std::vector<std::string> hosts;    ///< By cell; empty: no host of Slurm, but messages pass through the cell.
  std::uint64_t line = 0;
};

/// Nodes of one core each in a torus. A cell without a host is a node that no rank may use. Several grids are connected
/// by one switch, because the file does not describe the network between them; this is a remark. Fails if a host is
/// given twice.
Result<MachineSpec> build_grids(const std::string& source, const std::vector<GridEntry>& grids);

}  // namespace rankloom
