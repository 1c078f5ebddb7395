// SPDX-License-Identifier: Apache-2.0
// capture/generate: the communication graph of neighbours on a grid.
#include "rankloom/capture/generate/grid_graph.hpp"

#include <bit>
#include <utility>

#include "rankloom/core/parallel.hpp"

namespace rankloom {

namespace {

/// The coordinate itself and its neighbours in one dimension, in ascending order.
struct AxisNeighbours {
  struct Entry {
    std::uint32_t coordinate;
    bool differs;
  };
  std::array<Entry, 3> entries;
  std::uint32_t count = 0;
  std::uint32_t others = 0;  ///< Entries other than the coordinate itself.

  AxisNeighbours() = default;
  AxisNeighbours(std::uint32_t coordinate, std::uint32_t extent, bool periodic) {
    const std::uint32_t last = extent - 1;
    const bool wraps_up = periodic && coordinate == last && extent > 2;
    const bool wraps_down = periodic && coordinate == 0 && extent > 2;
    if (wraps_up) add(0, true);
    if (coordinate > 0) add(coordinate - 1, true);
    add(coordinate, false);
    if (coordinate < last) add(coordinate + 1, true);
    if (wraps_down) add(last, true);
  }

 private:
  void add(std::uint32_t coordinate, bool differs) {
    entries[count++] = {coordinate, differs};
    others += differs ? 1 : 0;
  }
};

class GridRows {
 public:
  explicit GridRows(const GridTraffic& traffic) : traffic_(traffic), direction_factor_(traffic.directed ? 1.0 : 0.5) {
    for (Dimensions set = 0; set < 8; ++set) {
      for (std::uint32_t d = 0; d < 3; ++d)
        if ((set >> d & 1) != 0 && traffic.periodic[d] && traffic.extents[d] == 2) multiplicity_[set] *= 2;
      has_messages_ |= traffic.neighbours[set] && multiplicity_[set] * traffic.messages != 1;
    }
  }

  bool has_messages() const { return has_messages_; }

  /// Calls row(rank, neighbours along each axis) for the ranks begin..end-1.
  template <class Row>
  void walk(std::size_t begin, std::size_t end, const Row& row) const {
    const auto [a, b, c] = traffic_.extents;
    std::array<std::uint32_t, 3> position = {static_cast<std::uint32_t>(begin / c / b),
                                             static_cast<std::uint32_t>(begin / c % b),
                                             static_cast<std::uint32_t>(begin % c)};
    std::array<AxisNeighbours, 3> neighbours = {neighbours_along(0, position[0]), neighbours_along(1, position[1]),
                                                neighbours_along(2, position[2])};
    for (std::size_t rank = begin; rank < end; ++rank) {
      row(rank, neighbours);
      if (++position[2] == c) {
        position[2] = 0;
        if (++position[1] == b) {
          position[1] = 0;
          if (++position[0] == a) return;
          neighbours[0] = neighbours_along(0, position[0]);
        }
        neighbours[1] = neighbours_along(1, position[1]);
      }
      neighbours[2] = neighbours_along(2, position[2]);
    }
  }

  std::uint32_t degree(const std::array<AxisNeighbours, 3>& neighbours) const {
    std::uint32_t sum = 0;
    for (Dimensions set = 1; set < 8; ++set) {
      if (!traffic_.neighbours[set]) continue;
      std::uint32_t product = 1;
      for (std::uint32_t d = 0; d < 3; ++d)
        if ((set >> d & 1) != 0) product *= neighbours[d].others;
      sum += product;
    }
    return sum;
  }

  void fill(const std::array<AxisNeighbours, 3>& neighbours, EdgeIndex edge, CommGraph::Rows& rows) const {
    for (std::uint32_t i = 0; i < neighbours[0].count; ++i) {
      const auto [x, x_differs] = neighbours[0].entries[i];
      for (std::uint32_t j = 0; j < neighbours[1].count; ++j) {
        const auto [y, y_differs] = neighbours[1].entries[j];
        const std::uint32_t line = (x * traffic_.extents[1] + y) * traffic_.extents[2];
        for (std::uint32_t k = 0; k < neighbours[2].count; ++k) {
          const auto [z, z_differs] = neighbours[2].entries[k];
          const Dimensions set = Dimensions{x_differs} | Dimensions{y_differs} << 1 | Dimensions{z_differs} << 2;
          if (!traffic_.neighbours[set]) continue;
          rows.targets[edge] = Rank{line + z};
          rows.bytes[edge] = direction_factor_ * multiplicity_[set] * traffic_.bytes[set];
          if (has_messages_) rows.messages[edge] = direction_factor_ * multiplicity_[set] * traffic_.messages;
          ++edge;
        }
      }
    }
  }

 private:
  AxisNeighbours neighbours_along(std::size_t dimension, std::uint32_t coordinate) const {
    return {coordinate, traffic_.extents[dimension], traffic_.periodic[dimension]};
  }

  const GridTraffic& traffic_;
  double direction_factor_;
  std::array<double, 8> multiplicity_ = {1, 1, 1, 1, 1, 1, 1, 1};  // 2 for each periodic dimension of extent 2
  bool has_messages_ = false;
};

}  // namespace

Result<CommGraph> grid_graph(const GridTraffic& traffic, std::string_view pattern) {
  const auto ranks = static_cast<std::size_t>(volume(traffic.extents));
  double max_degree = 0;
  for (Dimensions set = 1; set < 8; ++set)
    if (traffic.neighbours[set]) max_degree += 1 << std::popcount(set);
  auto fits =
      check_memory(pattern, static_cast<double>(ranks), static_cast<double>(ranks) * max_degree * bytes_per_edge);
  if (!fits) return propagate(fits);

  const GridRows grid(traffic);
  CommGraph::Rows rows;
  rows.undirected = !traffic.directed;
  rows.offsets.resize(ranks + 1);
  rows.offsets[0] = 0;
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    grid.walk(begin, end,
              [&](std::size_t rank, const auto& neighbours) { rows.offsets[rank + 1] = grid.degree(neighbours); });
  });
  for (std::size_t rank = 0; rank < ranks; ++rank) rows.offsets[rank + 1] += rows.offsets[rank];

  rows.targets.resize(rows.offsets[ranks]);
  rows.bytes.resize(rows.offsets[ranks]);
  if (grid.has_messages()) rows.messages.resize(rows.offsets[ranks]);
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    grid.walk(begin, end,
              [&](std::size_t rank, const auto& neighbours) { grid.fill(neighbours, rows.offsets[rank], rows); });
  });
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
