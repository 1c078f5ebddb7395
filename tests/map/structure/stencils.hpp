// SPDX-License-Identifier: Apache-2.0
// tests/map/structure: halo exchanges on grids of any shape.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::testing {

/// A grid and the bytes between neighbours: along each axis, and across corners of 2, 3, … axes.
struct Stencil {
  std::vector<std::uint32_t> extent;
  std::vector<bool> wraps = std::vector<bool>(extent.size(), false);
  std::vector<double> along = std::vector<double>(extent.size(), 100);
  std::vector<double> across = {};  ///< For steps on 2, 3, … axes at once; empty: only along the axes.
  double noise = 0;                 ///< Bytes differ by up to this fraction.
  std::uint64_t seed = 1;

  /// Ranks in row-major order; undirected.
  CommGraph graph() const {
    std::uint32_t cells = 1;
    for (const std::uint32_t side : extent) cells *= side;
    int directions = 1;
    for (std::size_t axis = 0; axis < extent.size(); ++axis) directions *= 3;
    CommGraph::Rows rows{.offsets = {}, .targets = {}, .bytes = {}, .messages = {}, .loads = {}, .undirected = true};
    rows.offsets.resize(std::size_t{cells} + 1);
    rows.offsets[0] = 0;
    const auto each = [&](std::uint32_t cell, const auto& visit) {
      for (int direction = 0; direction < directions; ++direction) step(cell, direction, visit);
    };
    parallel_chunks(cells, [&](std::size_t begin, std::size_t end) {
      for (std::size_t cell = begin; cell < end; ++cell) {
        EdgeIndex degree = 0;
        each(static_cast<std::uint32_t>(cell), [&](std::uint32_t, double) { ++degree; });
        rows.offsets[cell + 1] = degree;
      }
    });
    for (std::size_t cell = 0; cell < cells; ++cell) rows.offsets[cell + 1] += rows.offsets[cell];
    rows.targets.resize(rows.offsets.back());
    rows.bytes.resize(rows.offsets.back());
    parallel_chunks(cells, [&](std::size_t begin, std::size_t end) {
      std::vector<std::pair<std::uint32_t, double>> row;
      for (std::size_t cell = begin; cell < end; ++cell) {
        row.clear();
        each(static_cast<std::uint32_t>(cell),
             [&](std::uint32_t other, double bytes) { row.emplace_back(other, bytes); });
        std::sort(row.begin(), row.end());
        EdgeIndex edge = rows.offsets[cell];
        for (const auto& [other, bytes] : row) {
          rows.targets[edge] = Rank{other};
          rows.bytes[edge++] = bytes / 2;
        }
      }
    });
    return CommGraph(std::move(rows));
  }

 private:
  template <class Visit>
  void step(std::uint32_t cell, int direction, const Visit& visit) const {
    std::uint32_t other = 0, stride = 1, rest = cell, steps = 0;
    double bytes = 0;
    for (std::size_t axis = extent.size(); axis-- > 0; direction /= 3) {
      const std::uint32_t side = extent[axis];
      std::uint32_t at = rest % side;
      rest /= side;
      if (const int step = direction % 3 - 1; step != 0) {
        const bool leaves = step < 0 ? at == 0 : at + 1 == side;
        if (leaves && !(wraps[axis] && side > 2)) return;
        at = step < 0 ? (at == 0 ? side - 1 : at - 1) : (at + 1 == side ? 0 : at + 1);
        ++steps;
        bytes = along[axis];
      }
      other += at * stride;
      stride *= side;
    }
    if (steps == 0 || steps - 1 > across.size()) return;
    if (steps > 1) bytes = across[steps - 2];
    const std::uint64_t low = std::min(cell, other), high = std::max(cell, other);
    const double unit = static_cast<double>(mix(seed ^ mix(low << 32 | high)) >> 11) * 0x1.0p-53;
    visit(other, bytes * (1 + noise * (2 * unit - 1)));
  }
};

inline CommGraph shuffled(const CommGraph& graph, std::uint64_t seed) {
  std::vector<Rank> numbers;
  for (const Rank rank : graph.ranks()) numbers.push_back(rank);
  Random(seed).shuffle(std::span(numbers));
  return relabel(graph, numbers);
}

}  // namespace rankloom::testing
