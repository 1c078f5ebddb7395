// SPDX-License-Identifier: Apache-2.0
// report: a machine with the jobs on it. The layout is made once; the terminal and the SVG file draw the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Who has a node.
struct NodeUse {
  enum class Kind : std::uint8_t { free, job, kept, drained, failed };
  Kind kind = Kind::free;
  std::uint32_t job = 0;  ///< For job and kept: its place in the list of jobs.
};

/// Nodes side by side, as they are wired: a layer of a mesh, the leaves of a subtree, the routers of a group.
struct PicturePanel {
  std::string title;
  struct Row {
    std::string title;
    std::vector<Node> nodes;
  };
  std::vector<Row> rows;
};

/// A mesh or torus as grids, one for each layer of its first two dimensions; a tree as its lowest switches, a row each;
/// a dragonfly as its routers; anything else in the order of the nodes' numbers.
std::vector<PicturePanel> lay_out(const Topology& topology);

struct PictureJob {
  std::string name;
  std::string about;  ///< "9 nodes, diameter 4"
};

/// The letter that stands for a job in pictures.
char job_letter(std::size_t job);

/// Grids of letters and a legend. Job letters are coloured when asked for.
std::string draw_allocation(std::span<const PicturePanel> panels, std::span<const NodeUse> uses,
                            std::span<const PictureJob> jobs, bool colours);
/// One picture; pointing at a node shows its name and its job.
std::string allocation_svg(const Topology& topology, std::span<const PicturePanel> panels,
                           std::span<const NodeUse> uses, std::span<const PictureJob> jobs);

}  // namespace rankloom
