// SPDX-License-Identifier: Apache-2.0
// discover: from measured pairs to a machine with measured costs (Wang 2015, sections 3.3 and 4.2).
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/discover/probe/probe_table.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct ProbeOptions {
  bool blind = false;     ///< Find the nodes by the times alone, whatever the hosts are called.
  bool together = false;  ///< Costs while all send, as the paper has them; otherwise those of pairs that sent alone.
};

/// What was measured between ranks that part at one level.
struct ProbeLevel {
  std::string kind;
  Cost cost = {};  ///< What the machine got.
  Cost alone = {}, together = {};
  std::size_t pairs_alone = 0, pairs_together = 0;
  bool merged = false;  ///< Does not differ measurably from its neighbour, and shares its cost.
};

struct ProbedMachine {
  MachineSpec machine;
  std::vector<ProbeLevel> levels;                  ///< Top down, those at which pairs were measured.
  std::vector<std::vector<std::uint32_t>> groups;  ///< The ranks of each node, in the machine's order.
};

/// A machine of one core for each rank: hosts (or what the times show as such), groups inside, switches above, where
/// they differ measurably. Of each level the highest tenth of the gaps is dropped, the rest averaged.
Result<ProbedMachine> analyse_probe(const ProbeTable& table, const ProbeOptions& options);

/// A known machine with the costs that were measured on it; ranks sit where their host and processing unit say. Levels
/// that do not differ measurably get one cost; levels without a measured pair keep theirs.
Result<ProbedMachine> calibrate(const Topology& topology, const ProbeTable& table, const ProbeOptions& options);

}  // namespace rankloom
