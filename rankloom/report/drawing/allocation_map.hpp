// SPDX-License-Identifier: Apache-2.0
// report/drawing: a machine with its jobs. The terminal and the SVG file draw the same layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The state of a node.
struct NodeUse {
  enum class Kind : std::uint8_t { free, job, kept, drained, failed };
  Kind kind = Kind::free;
  std::uint32_t job = 0;  ///< For `job` and `reserved`: the index in the list of jobs.
};

/// Nodes arranged as they are connected: a layer of a mesh, the leaves of a subtree, the routers of a group.
struct PicturePanel {
  std::string title;
  struct Row {
    std::string title;
    std::vector<Node> nodes;
  };
  std::vector<Row> rows;
};

/// A mesh or torus: one grid per layer of its first two dimensions; a tree: one row per leaf switch; a dragonfly: one
/// row per router; any other network: nodes in order of their numbers.
std::vector<PicturePanel> lay_out(const Topology& topology);

struct PictureJob {
  std::string name;
  std::string about;  ///< "9 nodes, diameter 4"
};

/// The letter that represents a job in pictures.
char job_letter(std::size_t job);

/// Grids of letters and a legend, with coloured job letters on request.
std::string draw_allocation(std::span<const PicturePanel> panels, std::span<const NodeUse> uses,
                            std::span<const PictureJob> jobs, bool colours);
/// One SVG file; its tooltips show the name and the job of each node.
std::string allocation_svg(const Topology& topology, std::span<const PicturePanel> panels,
                           std::span<const NodeUse> uses, std::span<const PictureJob> jobs);

}  // namespace rankloom
