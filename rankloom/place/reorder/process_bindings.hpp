// SPDX-License-Identifier: Apache-2.0
// place/reorder: a machine description from the hosts and bindings of the processes of a running program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::reorder {

/// The host and the processor binding of one process.
struct ProcessBinding {
  std::string host;
  /// The processing units that it may run on, numbered as by the operating system; empty: all of the host.
  std::vector<std::uint32_t> units;
};

/// A machine that has exactly one slot per process.
struct SlotMachine {
  Topology topology;          ///< The capacity of a core is the number of processes that are bound to it.
  std::vector<Core> core_of;  ///< By process.
};

/// Builds the machine of these processes. `machine` is a file or string as for -t; empty: all hosts share one switch.
/// Its nodes are found by host name, or assigned in the natural order of the host names if their number equals that of
/// the hosts. `interiors` describe the inside of the hosts; they are used if the machine does not. The machine
/// distinguishes cores only if every process is bound to one core; otherwise it distinguishes only packages or hosts.
Result<SlotMachine> build_slot_machine(const std::vector<ProcessBinding>& bindings, const std::string& machine,
                                       const std::vector<NodeInterior>& interiors);

}  // namespace rankloom::reorder
