// SPDX-License-Identifier: Apache-2.0
// discover/probe: from measured pairs to a machine with measured costs (Wang 2015, sections 3.3 and 4.2).
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/discover/probe/probe_table.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct ProbeOptions {
  bool ignore_host_names = false;  ///< Detect the nodes from the times only.
  /// Use the costs while all pairs send, as the paper does; otherwise those of pairs measured alone.
  bool under_load = false;
};

/// The measurements between ranks whose paths diverge at one level.
struct ProbeLevel {
  std::string kind;
  Cost cost = {};  ///< The cost in the resulting machine.
  Cost alone = {}, together = {};
  std::size_t pairs_alone = 0, pairs_together = 0;
  bool merged = false;  ///< Does not differ measurably from a neighbouring level and has the same cost.
};

struct ProbedMachine {
  MachineSpec machine;
  std::vector<ProbeLevel> levels;                  ///< Top down; only levels with measured pairs.
  std::vector<std::vector<std::uint32_t>> groups;  ///< The ranks of each node, in the machine's order.
};

/// A machine with one core per rank: hosts (or the nodes that the times show), groups inside and switches above, where
/// they differ measurably. Per level, the tenth with the highest inverse bandwidth is dropped and the rest averaged.
/// The measured widths of channels are added, unless the costs are those under load, which contain the sharing already.
Result<ProbedMachine> analyse_probe(const ProbeTable& table, const ProbeOptions& options);

/// A known machine with measured costs. The host and the processing unit of a rank determine its core. Levels that do
/// not differ measurably get one cost; levels without a measured pair keep their cost.
Result<ProbedMachine> calibrate(const Topology& topology, const ProbeTable& table, const ProbeOptions& options);

}  // namespace rankloom
