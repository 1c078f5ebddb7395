// SPDX-License-Identifier: Apache-2.0
// model: a machine in words. Every topology source (string, JSON, hostlist, hwloc, Slurm, probe) says what it found as
// a MachineSpec, and Topology::build turns that into the fast value. It is small: equal parts are written once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"

namespace rankloom {

class Network;

/// What it costs to send between two places. Times are nanoseconds; a source that knows only ratios uses any unit.
struct Cost {
  double gap = 0;      ///< Time per byte.
  double latency = 0;  ///< Time per message.
  bool operator==(const Cost&) const = default;
};

/// One object of the hierarchy, or `repeat` equal ones side by side.
struct ObjectSpec {
  std::string kind;  ///< "switch", "node", "package", "core", …: the name of its level.
  std::string name;  ///< A host's name; empty: numbered. Only with repeat = 1.
  std::uint64_t repeat = 1;
  std::optional<Cost>
      between;  ///< Between two cores under different children of this object; none: 10 x the dearest level below.
  std::uint32_t capacity = 1;  ///< Leaves only: ranks a core may hold; 0: the core is not to be used.
  std::optional<std::uint32_t>
      os_index;                      ///< Leaves only: the operating system's number of the processing unit in its node.
  std::vector<ObjectSpec> children;  ///< Empty: a leaf, that is, a core.
};

/// What a source found odd while reading, for `topo check`: it can be lived with, but may not be meant.
struct MachineRemark {
  std::string what;
  std::string hint;
};

struct MachineSpec {
  ObjectSpec root;  ///< The whole machine; kind "machine".
  /// How the nodes are wired, when that is no hierarchy. The root's children are then the nodes, in the network's
  /// order.
  std::shared_ptr<const Network> network;
  std::string text;  ///< What the user wrote, for messages.
  std::vector<MachineRemark> remarks;
};

}  // namespace rankloom
