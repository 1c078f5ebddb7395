// SPDX-License-Identifier: Apache-2.0
// report/terminal: a machine as an indented tree. Equal siblings are shown once, with their number.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {

/// The number of devices near all cores of an object.
struct DeviceCounts {
  std::uint32_t gpus = 0, network_cards = 0;
  auto operator<=>(const DeviceCounts&) const = default;
};

/// Equal objects with the same parent, shown once.
struct MachineOutline {
  std::string kind;
  std::uint64_t count = 1;           ///< The number of equal siblings.
  std::uint64_t cores = 1;           ///< Cores under each of them.
  std::uint32_t capacity = 1;        ///< Leaves only: the number of ranks that a core may hold.
  std::optional<Cost> sibling_cost;  ///< Between cores of two siblings; none: no siblings, or a network defines it.
  std::vector<std::string> names;  ///< Names of hosts: all of them when they are few, otherwise the first and the last.
  bool names_omitted = false;      ///< Names between the two are omitted.
  DeviceCounts devices = {};       ///< Of each of them.
  std::vector<MachineOutline> children;
};

/// The root represents the whole machine. O(cores).
MachineOutline outline_machine(const Topology& topology);

struct OutlineStyle {
  bool ascii = false;             ///< ASCII characters instead of box-drawing characters.
  std::size_t max_children = 24;  ///< Unequal siblings that are shown; the others are counted.
  std::size_t width = unlimited_width;
};

/// "4.1", or "10, latency 2.5 µs".
std::string cost_text(const Cost& cost);

/// One line per object: its kind, number, host names and cost.
std::string draw_outline(const MachineOutline& tree, const OutlineStyle& style = {});

}  // namespace rankloom
