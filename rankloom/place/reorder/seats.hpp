// SPDX-License-Identifier: Apache-2.0
// place/reorder: where the processes of a running program sit, as a machine whose places are exactly their seats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom::reorder {

/// One process, as it sees itself.
struct Seat {
  std::string host;
  /// Processing units that it may run on, by the operating system's numbers; empty: anywhere on the host.
  std::vector<std::uint32_t> units;
};

struct SeatedMachine {
  Topology topology;
  std::vector<Core> core_of;  ///< By process. A core holds as many ranks as processes sit there, so some hold none.
};

/// The machine around these processes. `machine` is what the user says of it (a file or string as every -t takes;
/// empty: hosts at one switch): its nodes are found by name, or in the natural order of the hosts' names when they are
/// as many. `interiors` are the insides of the hosts, used where the machine has none of its own. Processes that are
/// not bound to one core are all that is known: where one may run in a whole package, or anywhere on its host, only
/// packages or hosts are told apart.
Result<SeatedMachine> seat(const std::vector<Seat>& seats, const std::string& machine,
                           const std::vector<NodeInterior>& interiors);

/// "0-3,8" → 0 1 2 3 8
Result<std::vector<std::uint32_t>> parse_units(std::string_view text);

}  // namespace rankloom::reorder
