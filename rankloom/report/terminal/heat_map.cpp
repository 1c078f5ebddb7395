// SPDX-License-Identifier: Apache-2.0
// report/terminal: a heat map of the traffic as characters.
#include "rankloom/report/terminal/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/report/layout/heat_map_layout.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {
namespace {

constexpr std::array<std::string_view, 5> shades{"·", "░", "▒", "▓",
                                                 "█"};  // no traffic, then factors of ten up to the maximum

std::string_view shade(double value, double most) {
  if (!(value > 0)) return shades.front();
  const double below = std::floor(std::log10(most / value) + 1e-9);  // factors of ten below the maximum
  const auto steps = static_cast<std::size_t>(std::clamp(below, 0.0, static_cast<double>(shades.size() - 2)));
  return shades[shades.size() - 1 - steps];
}

}  // namespace

std::string heat_map(const CommGraph& graph, std::size_t cells) {
  const std::size_t ranks = graph.rank_count();
  cells = std::min(cells, ranks);
  if (cells == 0) return {};
  const HeatCells heat = heat_cells(graph, {}, cells);
  const auto first_rank = [&](std::size_t row) { return first_in_row(row, ranks, cells); };
  const std::size_t width = fmt::format("{}", first_rank(cells - 1)).size();
  std::string text;
  for (std::size_t row = 0; row < cells; ++row) {
    text += "  " + pad_left(fmt::format("{}", first_rank(row)), width) + " ";
    // Two characters per cell, so that a cell is about square.
    for (std::size_t column = 0; column < cells; ++column) {
      const std::string_view mark = shade(heat.density[row * cells + column], heat.most);
      text += fmt::format("{}{}", mark, mark);
    }
    text += "\n";
  }
  return text;
}

}  // namespace rankloom
