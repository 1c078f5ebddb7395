// SPDX-License-Identifier: Apache-2.0
// report: draws a folded machine as lines for the terminal.
#pragma once

#include <string>

#include "rankloom/model/machine_spec.hpp"
#include "rankloom/report/machine_tree.hpp"

namespace rankloom {

struct TreeStyle {
  bool ascii = false;              ///< Plain characters instead of lines and crosses.
  std::size_t most_children = 24;  ///< Unequal siblings shown; the rest is counted.
};

/// "4.1", or "10, latency 2.5 µs".
std::string cost_text(const Cost& cost);

/// One line an object, ended by newlines: its kind and number, hosts' names, what crossing it costs.
std::string draw_tree(const MachineTree& tree, const TreeStyle& style = {});

}  // namespace rankloom
