// SPDX-License-Identifier: Apache-2.0
// report: a machine as a tree in which equal parts are folded into one. This is the layout; drawing it is another
// file's work, so that a terminal and a picture show the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Equal objects with the same parent, shown as one.
struct MachineOutline {
  std::string kind;
  std::uint64_t count = 1;         ///< How many of them stand under one parent.
  std::uint64_t cores = 1;         ///< Under each.
  std::uint32_t capacity = 1;      ///< Leaves only: ranks a core may hold.
  std::optional<Cost> apart;       ///< Between cores of two of its siblings; none: it has none, or a network decides.
  std::vector<std::string> names;  ///< Hosts that have names: all when few, else the first and the last.
  bool names_left_out = false;     ///< There are more between the two names.
  std::vector<MachineOutline> children;
};

/// The root stands for the whole machine. O(cores).
MachineOutline outline_machine(const Topology& topology);

struct OutlineStyle {
  bool ascii = false;              ///< Plain characters instead of lines and crosses.
  std::size_t most_children = 24;  ///< Unequal siblings shown; the rest is counted.
};

/// "4.1", or "10, latency 2.5 µs".
std::string cost_text(const Cost& cost);

/// One line an object, ended by newlines: its kind and number, hosts' names, what crossing it costs.
std::string draw_outline(const MachineOutline& tree, const OutlineStyle& style = {});

}  // namespace rankloom
