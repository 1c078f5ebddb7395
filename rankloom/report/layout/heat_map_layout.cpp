// SPDX-License-Identifier: Apache-2.0
// report/layout: rows, borders and cells of heat maps.
#include "rankloom/report/layout/heat_map_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rankloom/report/layout/machine_layout.hpp"

namespace rankloom {

HeatOrder heat_order(std::string id, const Topology& topology, std::span<const Core> core_of) {
  HeatOrder order;
  order.id = std::move(id);
  order.ranks.resize(core_of.size());
  std::iota(order.ranks.begin(), order.ranks.end(), 0U);
  std::stable_sort(order.ranks.begin(), order.ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return core_of[a] < core_of[b]; });
  if (topology.is_matrix()) return order;
  for (std::uint32_t row = 0; row < order.ranks.size(); ++row) {
    const Node node = topology.node_of(core_of[order.ranks[row]]);
    if (row > 0 && node == topology.node_of(core_of[order.ranks[row - 1]])) continue;
    order.borders.push_back(row);
    order.nodes.push_back(node_label(topology, node));
  }
  return order;
}

double HeatCells::shade(std::size_t row, std::size_t column) const {
  const double value = density[row * cells + column];
  if (!(value > 0)) return -1;
  // Four factors of ten are shown; smaller values get the palest shade.
  constexpr double factors = 4;
  return std::clamp(1 + std::log10(value / most) / factors, 0.0, 1.0);
}

HeatCells heat_cells(const CommGraph& graph, std::span<const std::uint32_t> order, std::size_t cells) {
  const std::size_t ranks = graph.rank_count();
  HeatCells heat;
  heat.cells = std::min(cells, ranks);
  cells = heat.cells;
  if (cells == 0) return heat;
  std::vector<std::uint32_t> row_of(ranks);
  std::vector<double> sizes(cells, 0.0);
  for (std::size_t place = 0; place < ranks; ++place) {
    const auto row = static_cast<std::uint32_t>(place * cells / ranks);
    row_of[order.empty() ? place : order[place]] = row;
    sizes[row] += 1;
  }
  heat.density.assign(cells * cells, 0.0);
  for (const Rank from : graph.ranks()) {
    const auto targets = graph.targets(from);
    const auto bytes = graph.bytes(from);
    const std::size_t row = row_of[index(from)] * cells;
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (targets[edge] != from) heat.density[row + row_of[index(targets[edge])]] += bytes[edge];
    }
  }
  for (std::size_t at = 0; at < heat.density.size(); ++at) {
    double& value = heat.density[at];
    value /= sizes[at / cells] * sizes[at % cells];
    heat.most = std::max(heat.most, value);
  }
  return heat;
}

}  // namespace rankloom
