// SPDX-License-Identifier: Apache-2.0
// capture: graphs of neighbours on a grid.
#include "rankloom/capture/generate/grid_graph.hpp"

#include <bit>
#include <utility>

#include "rankloom/core/parallel.hpp"

namespace rankloom {

namespace {

/// The coordinates within reach of one coordinate, in rising order.
struct Reach {
  struct Place {
    std::uint32_t coordinate;
    bool differs;
  };
  std::array<Place, 3> places;
  std::uint32_t count = 0;
  std::uint32_t others = 0;  ///< Places that differ.

  Reach() = default;
  Reach(std::uint32_t coordinate, std::uint32_t extent, bool periodic) {
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
    places[count++] = {coordinate, differs};
    others += differs ? 1 : 0;
  }
};

class GridRows {
 public:
  explicit GridRows(const GridTraffic& traffic) : traffic_(traffic), share_(traffic.directed ? 1.0 : 0.5) {
    for (Dimensions set = 0; set < 8; ++set) {
      for (std::uint32_t d = 0; d < 3; ++d)
        if ((set >> d & 1) != 0 && traffic.periodic[d] && traffic.extents[d] == 2) times_[set] *= 2;
      keep_messages_ |= traffic.neighbours[set] && times_[set] * traffic.messages != 1;
    }
  }

  bool keeps_messages() const { return keep_messages_; }

  /// Calls row(rank, reach of each dimension) for the ranks begin..end-1.
  template <class Row>
  void walk(std::size_t begin, std::size_t end, const Row& row) const {
    const auto [a, b, c] = traffic_.extents;
    std::array<std::uint32_t, 3> place = {static_cast<std::uint32_t>(begin / c / b),
                                          static_cast<std::uint32_t>(begin / c % b),
                                          static_cast<std::uint32_t>(begin % c)};
    std::array<Reach, 3> reach = {in(0, place[0]), in(1, place[1]), in(2, place[2])};
    for (std::size_t rank = begin; rank < end; ++rank) {
      row(rank, reach);
      if (++place[2] == c) {
        place[2] = 0;
        if (++place[1] == b) {
          place[1] = 0;
          if (++place[0] == a) return;
          reach[0] = in(0, place[0]);
        }
        reach[1] = in(1, place[1]);
      }
      reach[2] = in(2, place[2]);
    }
  }

  std::uint32_t degree(const std::array<Reach, 3>& reach) const {
    std::uint32_t sum = 0;
    for (Dimensions set = 1; set < 8; ++set) {
      if (!traffic_.neighbours[set]) continue;
      std::uint32_t product = 1;
      for (std::uint32_t d = 0; d < 3; ++d)
        if ((set >> d & 1) != 0) product *= reach[d].others;
      sum += product;
    }
    return sum;
  }

  void fill(const std::array<Reach, 3>& reach, EdgeIndex edge, CommGraph::Rows& rows) const {
    for (std::uint32_t i = 0; i < reach[0].count; ++i) {
      const auto [x, x_differs] = reach[0].places[i];
      for (std::uint32_t j = 0; j < reach[1].count; ++j) {
        const auto [y, y_differs] = reach[1].places[j];
        const std::uint32_t line = (x * traffic_.extents[1] + y) * traffic_.extents[2];
        for (std::uint32_t k = 0; k < reach[2].count; ++k) {
          const auto [z, z_differs] = reach[2].places[k];
          const Dimensions set = Dimensions{x_differs} | Dimensions{y_differs} << 1 | Dimensions{z_differs} << 2;
          if (!traffic_.neighbours[set]) continue;
          rows.targets[edge] = Rank{line + z};
          rows.bytes[edge] = share_ * times_[set] * traffic_.bytes[set];
          if (keep_messages_) rows.messages[edge] = share_ * times_[set] * traffic_.messages;
          ++edge;
        }
      }
    }
  }

 private:
  Reach in(std::size_t dimension, std::uint32_t coordinate) const {
    return {coordinate, traffic_.extents[dimension], traffic_.periodic[dimension]};
  }

  const GridTraffic& traffic_;
  double share_;
  std::array<double, 8> times_ = {1, 1, 1, 1, 1, 1, 1, 1};  // 2 for each dimension in which both ways meet
  bool keep_messages_ = false;
};

}  // namespace

Result<CommGraph> grid_graph(const GridTraffic& traffic, std::string_view pattern) {
  const auto ranks = static_cast<std::size_t>(volume(traffic.extents));
  double neighbours = 0;
  for (Dimensions set = 1; set < 8; ++set)
    if (traffic.neighbours[set]) neighbours += 1 << std::popcount(set);
  auto fits = check_memory(pattern, static_cast<double>(ranks), static_cast<double>(ranks) * neighbours * per_edge);
  if (!fits) return propagate(fits);

  const GridRows grid(traffic);
  CommGraph::Rows rows;
  rows.undirected = !traffic.directed;
  rows.offsets.resize(ranks + 1);
  rows.offsets[0] = 0;
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    grid.walk(begin, end, [&](std::size_t rank, const auto& reach) { rows.offsets[rank + 1] = grid.degree(reach); });
  });
  for (std::size_t rank = 0; rank < ranks; ++rank) rows.offsets[rank + 1] += rows.offsets[rank];

  rows.targets.resize(rows.offsets[ranks]);
  rows.bytes.resize(rows.offsets[ranks]);
  if (grid.keeps_messages()) rows.messages.resize(rows.offsets[ranks]);
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    grid.walk(begin, end, [&](std::size_t rank, const auto& reach) { grid.fill(reach, rows.offsets[rank], rows); });
  });
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
