// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: edges counted by direction.
#include "rankloom/map/structure/recognition/edge_census.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

constexpr double max_irregular_fraction = 0.02;
constexpr double min_axis_edge_fraction = 0.95;
constexpr std::size_t ranks_per_chunk = 16384;

/// A hash table from the difference of two cell numbers to the direction, for interior cells. A grid with interior
/// cells has 3 cells or more on every axis, so the difference identifies the direction.
class DirectionTable {
 public:
  explicit DirectionTable(const GridCells& cells) {
    std::size_t size = 4;
    while (size < 4 * static_cast<std::size_t>(cells.direction_count())) size *= 2, --shift_;
    entries_.resize(size);
    for (int direction = 0; direction < cells.direction_count(); ++direction) {
      const AxisSteps steps = cells.steps(direction);
      std::int64_t difference = 0;
      for (std::size_t axis = 0; axis < cells.axes(); ++axis) {
        difference += steps[axis] * static_cast<std::int64_t>(cells.stride(axis));
      }
      std::size_t at = first(difference);
      while (entries_[at].direction >= 0) at = (at + 1) % size;
      entries_[at] = {difference, direction};
    }
  }

  int operator()(std::int64_t difference) const {
    for (std::size_t at = first(difference);; at = (at + 1) & (entries_.size() - 1)) {
      if (entries_[at].direction < 0 || entries_[at].difference == difference) return entries_[at].direction;
    }
  }

 private:
  struct Entry {
    std::int64_t difference = 0;
    int direction = -1;
  };
  std::size_t first(std::int64_t difference) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(difference) * 0x9e3779b97f4a7c15ULL) >> shift_);
  }
  int shift_ = 62;
  std::vector<Entry> entries_;
};

int opposite(const GridCells& cells, int direction) {
  return cells.direction_count() - 1 - direction;
}

bool is_along_axis(const AxisSteps& steps) {
  return std::count(steps.begin(), steps.end(), 0) == static_cast<std::ptrdiff_t>(max_axes) - 1;
}

template <class Id>
class EdgeCounter {
 public:
  EdgeCounter(const AdjacencyView<Id>& adjacency, const Grid& grid)
      : adjacency_(adjacency), grid_(grid), cells_(grid), direction_of_(cells_) {
    for (int direction = 0; direction < cells_.direction_count(); ++direction) {
      is_axis_direction_.push_back(is_along_axis(cells_.steps(direction)));
    }
  }

  EdgeCensus empty_census() const {
    EdgeCensus census;
    census.by_direction.resize(static_cast<std::size_t>(cells_.direction_count()));
    return census;
  }

  void count_edges(std::uint32_t rank, EdgeCensus& census) const {
    const std::uint32_t cell = grid_.cell(rank);
    const GridCells::Coordinates at = cells_.coordinates(cell);
    census.expected_axis_edges += cells_.axis_neighbours(at);
    const auto count = [&](int direction, double bytes) {
      ++census.edges;
      if (direction < 0) {
        ++census.irregular_edges, census.irregular_bytes += bytes;
        return;
      }
      auto& tally = census.by_direction[static_cast<std::size_t>(direction)];
      ++tally.edges, tally.bytes += bytes, tally.squares += bytes * bytes;
      census.axis_edges += is_axis_direction_[static_cast<std::size_t>(direction)];
    };
    if (cells_.is_interior(at)) {
      adjacency_.each(rank, [&](std::uint32_t other, double bytes) {
        count(direction_of_(static_cast<std::int64_t>(grid_.cell(other)) - cell), bytes);
      });
    } else {
      adjacency_.each(rank, [&](std::uint32_t other, double bytes) {
        count(cells_.direction(at, cells_.coordinates(grid_.cell(other))), bytes);
      });
    }
  }

 private:
  const AdjacencyView<Id>& adjacency_;
  const Grid& grid_;
  GridCells cells_;
  DirectionTable direction_of_;
  std::vector<std::uint8_t> is_axis_direction_;
};

/// Checks every axis separately: an axis with few edges must not be hidden by the others.
bool every_axis_fits(const GridCells& cells, const EdgeCensus& census, std::uint64_t ranks) {
  for (int direction = 0; direction < cells.direction_count(); ++direction) {
    const AxisSteps steps = cells.steps(direction);
    if (!is_along_axis(steps)) continue;
    const auto axis = static_cast<std::size_t>(
        std::find_if(steps.begin(), steps.end(), [](int step) { return step != 0; }) - steps.begin());
    const std::uint64_t lines = ranks / cells.extent(axis);
    const std::uint64_t expected = lines * (cells.extent(axis) - (cells.wraps(axis) ? 0 : 1));
    if (static_cast<double>(census.by_direction[static_cast<std::size_t>(direction)].edges) <
        min_axis_edge_fraction * static_cast<double>(expected)) {
      return false;
    }
  }
  return true;
}

/// The pairs of cells that differ by these steps.
double pairs_in(const GridCells& cells, const AxisSteps& steps) {
  double pairs = 1;
  for (std::size_t axis = 0; axis < cells.axes(); ++axis) {
    pairs *= cells.extent(axis) - (steps[axis] != 0 && !cells.wraps(axis) ? 1 : 0);
  }
  return pairs;
}

/// Whether no corner has more bytes than an edge along one of the axes that it crosses.
bool corners_are_light(const GridCells& cells, std::span<const Grid::Direction> directions) {
  constexpr double rounding = 1 + 1e-9;
  std::array<double, max_axes> along{};
  for (const auto& [step, bytes] : directions) {
    if (!is_along_axis(step)) continue;
    for (std::size_t axis = 0; axis < cells.axes(); ++axis) {
      if (step[axis] != 0) along[axis] = bytes / pairs_in(cells, step);
    }
  }
  return std::ranges::all_of(directions, [&](const Grid::Direction& direction) {
    const double bytes = direction.bytes / pairs_in(cells, direction.step);
    for (std::size_t axis = 0; axis < cells.axes(); ++axis) {
      if (direction.step[axis] != 0 && bytes > rounding * along[axis]) return false;
    }
    return true;
  });
}

}  // namespace

std::uint32_t Grid::cell_count() const {
  std::uint32_t cells = 1;
  for (const std::uint32_t side : extent) cells *= side;
  return cells;
}

bool Grid::has_corner_edges() const {
  return std::ranges::any_of(directions, [](const Direction& direction) { return !is_along_axis(direction.step); });
}

GridCells::GridCells(const Grid& grid) : axes_(grid.extent.size()) {
  std::uint64_t stride = 1;
  for (std::size_t axis = axes_; axis-- > 0;) {
    extent_[axis] = grid.extent[axis];
    wraps_[axis] = grid.wraps[axis];
    stride_[axis] = stride;
    stride *= extent_[axis];
    direction_count_ *= 3;
  }
}

GridCells::Coordinates GridCells::coordinates(std::uint32_t cell) const {
  Coordinates at{};
  for (std::size_t axis = axes_; axis-- > 0;) {
    at[axis] = cell % extent_[axis];
    cell /= extent_[axis];
  }
  return at;
}

std::uint32_t GridCells::cell(const Coordinates& at) const {
  std::uint32_t cell = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) cell = cell * extent_[axis] + at[axis];
  return cell;
}

int GridCells::direction(const Coordinates& from, const Coordinates& to) const {
  int direction = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const std::int64_t difference = static_cast<std::int64_t>(to[axis]) - from[axis];
    int digit = 0;
    if (difference >= -1 && difference <= 1) {
      digit = static_cast<int>(difference) + 1;
    } else if (wraps_[axis] && std::abs(difference) == std::int64_t{extent_[axis]} - 1) {
      digit = difference > 0 ? 0 : 2;
    } else {
      return -1;
    }
    direction = direction * 3 + digit;
  }
  return direction;
}

std::uint32_t GridCells::axis_neighbours(const Coordinates& at) const {
  std::uint32_t neighbours = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    neighbours += wraps_[axis] || at[axis] > 0;
    neighbours += wraps_[axis] || at[axis] + 1 < extent_[axis];
  }
  return neighbours;
}

bool GridCells::is_interior(const Coordinates& at) const {
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    if (at[axis] == 0 || at[axis] + 1 == extent_[axis]) return false;
  }
  return true;
}

AxisSteps GridCells::steps(int direction) const {
  AxisSteps steps{};
  for (std::size_t axis = axes_; axis-- > 0;) {
    steps[axis] = static_cast<std::int8_t>(direction % 3 - 1);
    direction /= 3;
  }
  return steps;
}

EdgeCensus& EdgeCensus::operator+=(const EdgeCensus& other) {
  if (by_direction.empty()) by_direction.resize(other.by_direction.size());
  for (std::size_t at = 0; at < by_direction.size(); ++at) {
    by_direction[at].edges += other.by_direction[at].edges;
    by_direction[at].bytes += other.by_direction[at].bytes;
    by_direction[at].squares += other.by_direction[at].squares;
  }
  edges += other.edges;
  irregular_edges += other.irregular_edges;
  irregular_bytes += other.irregular_bytes;
  axis_edges += other.axis_edges;
  expected_axis_edges += other.expected_axis_edges;
  return *this;
}

bool EdgeCensus::fits() const {
  return static_cast<double>(irregular_edges) <= max_irregular_fraction * static_cast<double>(edges) &&
         static_cast<double>(axis_edges) >= min_axis_edge_fraction * static_cast<double>(expected_axis_edges);
}

template <class Id>
EdgeCensus edge_census(const AdjacencyView<Id>& adjacency, const Grid& grid, std::span<const std::uint32_t> ranks) {
  const EdgeCounter<Id> counter(adjacency, grid);
  EdgeCensus census = counter.empty_census();
  for (const std::uint32_t rank : ranks) counter.count_edges(rank, census);
  return census;
}

template <class Id>
EdgeCensus edge_census(const AdjacencyView<Id>& adjacency, const Grid& grid) {
  const EdgeCounter<Id> counter(adjacency, grid);
  return parallel_sum<EdgeCensus>(
      adjacency.size(),
      [&](std::size_t begin, std::size_t end) {
        EdgeCensus census = counter.empty_census();
        for (std::size_t rank = begin; rank < end; ++rank)
          counter.count_edges(static_cast<std::uint32_t>(rank), census);
        return census;
      },
      ranks_per_chunk);
}

template <class Id>
std::optional<Grid> verify_grid(const AdjacencyView<Id>& adjacency, Grid grid) {
  const GridCells cells(grid);
  const EdgeCensus census = edge_census(adjacency, grid);
  const double bytes = std::transform_reduce(census.by_direction.begin(), census.by_direction.end(), 0.0, std::plus<>(),
                                             [](const EdgeCensus::Tally& tally) { return tally.bytes; });
  if (!census.fits() || census.irregular_bytes > max_irregular_fraction * bytes ||
      !every_axis_fits(cells, census, adjacency.size()))
    return {};
  double variance = 0;  // of all edges around the mean of their direction, weighted by bytes
  bool has_all_edges = true;
  for (int direction = cells.direction_count() / 2 + 1; direction < cells.direction_count(); ++direction) {
    EdgeCensus::Tally both = census.by_direction[static_cast<std::size_t>(direction)];
    const auto& back = census.by_direction[static_cast<std::size_t>(opposite(cells, direction))];
    both.edges += back.edges, both.bytes += back.bytes, both.squares += back.squares;
    if (both.edges == 0) continue;
    grid.directions.push_back({cells.steps(direction), both.bytes});
    const double mean = both.bytes / static_cast<double>(both.edges);
    const double directed_pairs = 2 * pairs_in(cells, grid.directions.back().step);
    grid.stencil = grid.stencil && static_cast<double>(both.edges) >= min_axis_edge_fraction * directed_pairs;
    has_all_edges = has_all_edges && static_cast<double>(both.edges) >= directed_pairs;
    const double deviation = both.squares / static_cast<double>(both.edges) / (mean * mean) - 1;
    variance += std::max(0.0, deviation) * both.bytes;
  }
  grid.variation = variance > 1e-12 * bytes ? std::sqrt(variance / bytes) : 0;
  grid.exact = census.irregular_edges == 0 && census.axis_edges == census.expected_axis_edges;
  grid.stencil = grid.stencil && corners_are_light(cells, grid.directions);
  grid.regular = grid.stencil && grid.exact && has_all_edges && grid.variation == 0;
  return grid;
}

template EdgeCensus edge_census(const AdjacencyView<Rank>&, const Grid&, std::span<const std::uint32_t>);
template EdgeCensus edge_census(const AdjacencyView<std::uint32_t>&, const Grid&, std::span<const std::uint32_t>);
template std::optional<Grid> verify_grid(const AdjacencyView<Rank>&, Grid);
template std::optional<Grid> verify_grid(const AdjacencyView<std::uint32_t>&, Grid);

}  // namespace rankloom
