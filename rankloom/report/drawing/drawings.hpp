// SPDX-License-Identifier: Apache-2.0
// report/drawing: the pictures of a document as display lists: the same ones for SVG files and the terminal, finer
// where there is room for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/report/document/document.hpp"
#include "rankloom/report/drawing/display_list.hpp"

namespace rankloom {

struct DrawingOptions {
  std::size_t heat_cells = 32;     ///< Rows of a heat map at most.
  double heat_rows = 32;           ///< Rows of characters that it takes at most.
  std::size_t columns = 100;       ///< Of charts and time lines.
  std::size_t time_rows = 24;      ///< Rows of a picture of nodes over time, at most.
  double heat_most = 0;            ///< Bytes of a pair that the darkest shade stands for at least.
  bool all_of_the_machine = true;  ///< Else a large machine is shown as far as it fits.
};

/// In reading order; only what the document holds.
std::vector<Drawing> draw(const ReportDocument& document, const Topology* topology, const DrawingOptions& options);

// The single ones.
Drawing draw_heat_map(const ShownTraffic& traffic, const HeatOrder& order, std::string title,
                      const DrawingOptions& options);
/// With the ranks on their cores; an empty order: cores alone.
Drawing draw_machine(const MachineLayout& machine, const std::vector<Core>& core_of, std::string name,
                     std::string title);
Drawing draw_policy(const PolicyRow& policy, std::uint32_t nodes, double begin, double end,
                    const DrawingOptions& options);
Drawing draw_online(const OnlineNode& node, const DrawingOptions& options);

/// One line of a bar chart, or two when there is something to compare.
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
