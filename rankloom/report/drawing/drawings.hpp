// SPDX-License-Identifier: Apache-2.0
// report/drawing: the pictures of a document as display lists, for SVG files and the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/report/document/document.hpp"
#include "rankloom/report/drawing/display_list.hpp"

namespace rankloom {

struct DrawingOptions {
  std::size_t heat_cells = 32;  ///< Maximum number of rows of a heat map.
  double heat_rows = 32;        ///< Maximum height of a heat map in terminal rows.
  std::size_t columns = 100;    ///< Width of charts and time lines.
  std::size_t time_rows = 24;   ///< Maximum number of rows of a picture of nodes over time.
  double heat_max = 0;          ///< Lower limit of the bytes per pair that the darkest shade represents.
  bool whole_machine = true;    ///< Otherwise a large machine is truncated.
};

/// The pictures of all sections of the document, in reading order.
std::vector<Drawing> draw(const ReportDocument& document, const Topology* topology, const DrawingOptions& options);

// Single pictures.
Drawing draw_heat_map(const DisplayedTraffic& traffic, const HeatOrder& order, std::string title,
                      const DrawingOptions& options);
/// The machine with the ranks on the cores of their slots; without ranks when `core_of` is empty.
Drawing draw_machine(const MachineLayout& machine, const std::vector<Core>& core_of, std::string name,
                     std::string title, const RankSlots& slots = {});
Drawing draw_policy(const PolicyRow& policy, std::uint32_t nodes, double begin, double end,
                    const DrawingOptions& options);
Drawing draw_online(const OnlineNode& node, const DrawingOptions& options);

/// One bar, or two bars in a comparison.
struct BarRow {
  std::string label;
  double before = 0;
  std::string before_text;
  std::optional<double> after = {};
  std::string after_text = {};
  Meaning meaning = Meaning::before;  ///< Of the first bar.
};
Drawing draw_bars(std::string name, std::string title, const std::vector<BarRow>& rows, const DrawingOptions& options);

}  // namespace rankloom
