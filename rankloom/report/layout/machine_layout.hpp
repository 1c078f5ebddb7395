// SPDX-License-Identifier: Apache-2.0
// report/layout: a machine as nested boxes. The web page, SVG files and the terminal draw the same boxes. Nodes of one
// shape share one layout of their inside, the template.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Coordinates are columns and rows of characters, relative to the machine; in a template, relative to the node.
struct MachineBox {
  std::int32_t parent = -1;  ///< Index of the enclosing box; -1: none. Unused in templates.
  std::string kind;          ///< "switch", "node", "package", "core", …
  std::string label;
  double x = 0, y = 0, width = 0, height = 0;
  std::uint32_t first_core = 0;  ///< Relative to the machine; in a template, relative to the node.
  std::uint32_t cores = 0;
  std::int32_t template_index = -1;  ///< In MachineLayout::templates; -1 for objects that are not nodes.
};

/// A device in a node, below the cores that it is near.
struct DeviceBox {
  std::string kind;                            ///< "gpu" or "nic"
  std::uint32_t number = 0;                    ///< Among the devices of its kind on the node.
  std::string label;                           ///< "GPU 4", "mlx5_0"
  std::string name = {}, address = {};         ///< Empty: not known, or omitted.
  double x = 0, y = 0, width = 0, height = 1;  ///< Relative to the node.
  std::uint32_t first_core = 0, cores = 0;     ///< The cores near it; relative to the node.
};

/// What is drawn in every node of one shape with the same devices.
struct MachineTemplate {
  double width = 0, height = 0;
  std::vector<MachineBox> boxes;
  std::vector<DeviceBox> devices = {};
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wires;  ///< Pairs of node boxes with a direct link.
  std::uint32_t cores = 0;
  std::string note;  ///< What is omitted.
};

struct MachineLayoutOptions {
  std::uint32_t max_columns = 0;    ///< Of the whole picture, where it can be; 0: about one and a half times as wide
                                    ///< as high.
  std::uint32_t max_nodes = 4096;   ///< With more nodes, only the levels above the nodes are laid out.
  std::uint32_t max_wires = 20000;  ///< With more links, none is drawn.
};

/// O(cores). A machine given by a distance matrix has no boxes.
MachineLayout lay_out_machine(const Topology& topology, const MachineLayoutOptions& options = {});

/// "node3", in a mesh or torus of nodes without names "node3 (1,0)".
std::string node_label(const Topology& topology, Node node);
/// "between switches", "between nodes of a switch": the label of a level.
std::string level_label(const Topology& topology, std::size_t level);

}  // namespace rankloom
