// SPDX-License-Identifier: Apache-2.0
// report/drawing: heat maps: senders in rows, receivers in columns, names of nodes at their first rows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/drawing/drawings.hpp"
#include "rankloom/report/layout/heat_map_layout.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {

namespace {

/// Merges consecutive cells of a row with nearly equal shades.
constexpr double steps = 24;

double rounded(double shade) {
  return shade < 0 ? -1 : std::round(shade * steps) / steps;
}

/// Names of nodes at their first rows, where they do not overlap.
double label_rows(const HeatOrder& order, std::size_t ranks, std::size_t cells, double cell_height, double top,
                  DisplayList& list) {
  double width = 0;
  std::vector<std::pair<double, std::string>> labels;
  double free_from = -1;
  const auto add = [&](double y, std::string text) {
    if (y < free_from) return;
    free_from = y + 1;
    width = std::max(width, static_cast<double>(display_width(text)));
    labels.emplace_back(y, std::move(text));
  };
  const double scale = cell_height * static_cast<double>(cells) / static_cast<double>(ranks);
  for (std::size_t i = 0; i < order.borders.size(); ++i) add(order.borders[i] * scale, order.nodes[i]);
  if (order.borders.empty()) {
    for (std::size_t row = 0; row < cells; ++row)
      add(static_cast<double>(row) * cell_height, fmt::format("{}", order.ranks[first_in_row(row, ranks, cells)]));
  }
  for (auto& [y, text] : labels) list.text(Meaning::label, width, top + y, std::move(text), DisplayItem::Align::right);
  return width;
}

}  // namespace

Drawing draw_heat_map(const DisplayedTraffic& traffic, const HeatOrder& order, std::string title,
                      const DrawingOptions& options) {
  Drawing drawing{"heat-" + order.id, std::move(title), {}};
  HeatCells heat = heat_cells(traffic.graph, order.ranks, options.heat_cells);
  heat.most = std::max(heat.most, options.heat_max);
  if (heat.cells == 0) return drawing;
  const std::size_t ranks = traffic.graph.rank_count(), cells = heat.cells;
  const double height = std::min(1.0, options.heat_rows / static_cast<double>(cells)), width = 2 * height;
  DisplayList& list = drawing.list;
  constexpr double top = 1;
  const double left = label_rows(order, ranks, cells, height, top, list) + 1;
  const double square = static_cast<double>(cells) * height;
  list.text(Meaning::note, left, 0, "rows send, columns receive");
  list.rectangle(Meaning::heat, left, top, 2 * square, square, -1);
  for (std::size_t row = 0; row < cells; ++row) {
    for (std::size_t column = 0; column < cells;) {
      const double shade = rounded(heat.shade(row, column));
      std::size_t end = column + 1;
      while (end < cells && rounded(heat.shade(row, end)) == shade) ++end;
      if (shade >= 0)
        list.rectangle(Meaning::heat, left + static_cast<double>(column) * width,
                       top + static_cast<double>(row) * height, static_cast<double>(end - column) * width, height,
                       shade);
      column = end;
    }
  }
  if (order.borders.size() <= 256) {
    for (const std::uint32_t border : order.borders) {
      if (border == 0) continue;
      const double place = square * border / static_cast<double>(ranks);
      list.line(Meaning::border, left, top + place, 2 * square, 0);
      list.line(Meaning::border, left + 2 * place, top, 0, square);
    }
  }
  list.text(Meaning::note, left, top + square,
            fmt::format("darkest: {} per pair of {}; logarithmic scale down to a ten-thousandth",
                        format_bytes(heat.most), traffic.ranks_per_vertex > 1 ? "blocks" : "ranks"));
  list.width = left + std::max(2 * square, 96.0);
  list.height = top + square + 1;
  return drawing;
}

}  // namespace rankloom
