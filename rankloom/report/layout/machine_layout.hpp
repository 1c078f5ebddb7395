// SPDX-License-Identifier: Apache-2.0
// report/layout: a machine as boxes inside boxes. Made once; the page in the browser, the SVG file and the terminal
// show the same boxes. The insides of nodes of one shape are laid out once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Places are columns and rows of characters, from the corner of the machine, inside a template of the node.
struct MachineBox {
  std::int32_t parent = -1;  ///< Number of the box around it; -1: none. Not used in templates.
  std::string kind;          ///< "switch", "node", "package", "core", …
  std::string label;
  double x = 0, y = 0, width = 0, height = 0;
  std::uint32_t first_core = 0;  ///< Of the machine; in a template, of the node.
  std::uint32_t cores = 0;
  std::int32_t inside = -1;  ///< For nodes: their template.
};

/// The inside of nodes that are alike.
struct MachineTemplate {
  double width = 0, height = 0;
  std::vector<MachineBox> boxes;
};

struct MachineLayout {
  double width = 0, height = 0;
  struct Level {
    std::string kind, label;
    std::uint64_t count = 0;
    double gap = 0, latency = 0;
    bool has_cost = false;
  };
  std::vector<Level> levels;      ///< Top down.
  std::vector<MachineBox> boxes;  ///< Parents before children.
  std::vector<MachineTemplate> templates;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wires;  ///< Boxes of nodes that a network joins directly.
  std::uint32_t cores = 0;
  std::string note;  ///< What is left out.
};

struct MachineLayoutOptions {
  std::uint32_t most_columns = 0;    ///< Of the whole picture, where it can be; 0: about one and a half times as wide
                                     ///< as high.
  std::uint32_t most_nodes = 4096;   ///< With more, only what is above the nodes is laid out.
  std::uint32_t most_wires = 20000;  ///< With more, none is drawn.
};

/// O(cores). A table of distances has no boxes.
MachineLayout lay_out_machine(const Topology& topology, const MachineLayoutOptions& options = {});

/// "node3", in a mesh or torus of nodes without names "node3 (1,0)".
std::string node_label(const Topology& topology, Node node);
/// "between switches", "between nodes of a switch": what a level parts.
std::string level_label(const Topology& topology, std::size_t level);

}  // namespace rankloom
