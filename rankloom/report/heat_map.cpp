// SPDX-License-Identifier: Apache-2.0
// report: who talks to whom as a picture of characters.
#include "rankloom/report/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "rankloom/report/table.hpp"

namespace rankloom {
namespace {

constexpr std::array<std::string_view, 5> shades{"·", "░", "▒", "▓",
                                                 "█"};  // nothing, then factors of ten up to the most

/// Bytes for each pair of ranks of a cell, by row and column.
std::vector<double> densities(const CommGraph& graph, std::size_t cells) {
  const std::size_t ranks = graph.rank_count();
  std::vector<double> sums(cells * cells, 0.0), sizes(cells, 0.0);
  const auto cell = [&](Rank rank) { return index(rank) * cells / ranks; };
  for (const Rank from : graph.ranks()) {
    sizes[cell(from)] += 1;
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank to = graph.targets(from)[edge];
      if (from != to) sums[cell(from) * cells + cell(to)] += graph.bytes(from)[edge];
    }
  }
  for (std::size_t at = 0; at < sums.size(); ++at) sums[at] /= sizes[at / cells] * sizes[at % cells];
  return sums;
}

std::string_view shade(double value, double most) {
  if (!(value > 0)) return shades.front();
  const double below = std::floor(std::log10(most / value) + 1e-9);  // factors of ten below the most
  const auto steps = static_cast<std::size_t>(std::clamp(below, 0.0, static_cast<double>(shades.size() - 2)));
  return shades[shades.size() - 1 - steps];
}

}  // namespace

std::string heat_map(const CommGraph& graph, std::size_t cells) {
  const std::size_t ranks = graph.rank_count();
  cells = std::min(cells, ranks);
  if (cells == 0) return {};
  const auto density = densities(graph, cells);
  const double most = *std::max_element(density.begin(), density.end());
  const auto first_rank = [&](std::size_t row) { return (row * ranks + cells - 1) / cells; };
  const std::size_t width = fmt::format("{}", first_rank(cells - 1)).size();
  std::string text;
  for (std::size_t row = 0; row < cells; ++row) {
    text += "  " + pad_left(fmt::format("{}", first_rank(row)), width) + " ";
    // Two characters a cell, so that it is about as wide as high.
    for (std::size_t column = 0; column < cells; ++column) {
      const std::string_view mark = shade(density[row * cells + column], most);
      text += fmt::format("{}{}", mark, mark);
    }
    text += "\n";
  }
  return text;
}

}  // namespace rankloom
