// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: embeds a graph in a grid by propagating axes from rank to rank.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/map/structure/recognition/edge_census.hpp"
#include "rankloom/map/structure/recognition/grid_search.hpp"

namespace rankloom {
namespace {

/// No rank.
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t max_axis_neighbours = 2 * max_axes;
constexpr std::uint32_t sample_size = 256;
constexpr std::size_t max_thresholds = 12;
/// Edge weights that differ by a smaller factor belong to the same kind of neighbour.
constexpr double max_ratio_of_same_kind = 1.1;

/// The neighbours of a rank along the axes. add() returns false if there are too many for a grid.
struct AxisNeighbours {
  std::array<std::uint32_t, max_axis_neighbours> ranks;
  std::size_t count = 0;

  bool add(std::uint32_t rank) {
    if (count == max_axis_neighbours) return false;
    ranks[count++] = rank;
    return true;
  }
  std::span<const std::uint32_t> all() const { return {ranks.data(), count}; }
};

/// The rule that edges of at least this weight are along an axis.
template <class Id>
class MinWeightRule {
 public:
  MinWeightRule(const AdjacencyView<Id>& adjacency, double min_weight)
      : adjacency_(adjacency), min_weight_(min_weight) {}
  bool operator()(std::uint32_t rank, AxisNeighbours& neighbours) const {
    bool fits = true;
    adjacency_.each(rank, [&](std::uint32_t other, double bytes) {
      fits = fits && (bytes < min_weight_ || neighbours.add(other));
    });
    return fits;
  }

 private:
  const AdjacencyView<Id>& adjacency_;
  double min_weight_;
};

/// The rule for ranks that communicate across all corners with equal weights: the number of common neighbours
/// distinguishes neighbours along an axis from those across a corner. Counting the rank itself, a rank reaches 3 cells
/// on every axis, 2 at an open boundary. Two ranks share 2 on each axis on which they differ, so they share 2/3 of the
/// neighbourhood of the inner one if they differ on one axis, and 4/9 across a corner. Where two open boundaries meet,
/// ranks across the corner also share 2/3: both are equally close to the boundary, and a rank further inside is
/// adjacent to both.
template <class Id>
class CommonNeighbourRule {
 public:
  explicit CommonNeighbourRule(const AdjacencyView<Id>& adjacency) : adjacency_(adjacency) {}
  bool operator()(std::uint32_t rank, AxisNeighbours& neighbours) const {
    Neighbourhood own, of_other;
    if (!collect(rank, own)) return false;
    for (const std::uint32_t other : own.all()) {
      if (other == rank) continue;
      if (!collect(other, of_other)) return false;
      if (is_along_axis(own, of_other) && !is_across_boundary_corner(own, of_other) && !neighbours.add(other))
        return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t max_neighbours = 81;  // four axes
  /// A rank and its neighbours, in ascending order.
  struct Neighbourhood {
    std::array<std::uint32_t, max_neighbours> ranks;
    std::size_t count = 0;
    std::span<const std::uint32_t> all() const { return {ranks.data(), count}; }
    bool contains(std::uint32_t rank) const { return std::binary_search(ranks.data(), ranks.data() + count, rank); }
  };

  /// Returns false if there are too many neighbours for a grid.
  bool collect(std::uint32_t rank, Neighbourhood& result) const {
    result.count = 0;
    bool fits = true, listed = false;
    const auto add = [&](std::uint32_t other) {
      fits = fits && result.count < max_neighbours;
      if (fits) result.ranks[result.count++] = other;
    };
    adjacency_.each(rank, [&](std::uint32_t other, double) {
      if (!listed && other > rank) listed = true, add(rank);
      add(other);
    });
    if (!listed) add(rank);
    return fits;
  }
  static bool is_along_axis(const Neighbourhood& one, const Neighbourhood& other) {
    std::size_t common = 0;
    for (std::size_t a = 0, b = 0; a < one.count && b < other.count;) {
      const std::uint32_t left = one.ranks[a], right = other.ranks[b];
      common += left == right;
      a += left <= right;
      b += right <= left;
    }
    return 3 * common >= 2 * std::max(one.count, other.count);
  }
  bool is_across_boundary_corner(const Neighbourhood& one, const Neighbourhood& other) const {
    if (one.count != other.count) return false;
    Neighbourhood within;
    for (const std::uint32_t inner : one.all()) {
      if (!other.contains(inner) || !collect(inner, within) || within.count <= one.count) continue;
      if (is_along_axis(one, within) && is_along_axis(other, within)) return true;
    }
    return false;
  }

  const AdjacencyView<Id>& adjacency_;
};

bool contains(std::span<const std::uint32_t> ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Directions are numbered 2·axis for backward and 2·axis + 1 for forward; `^ 1` gives the opposite direction.
template <class NeighboursOf>
class GridEmbedding {
 public:
  GridEmbedding(std::uint32_t size, const NeighboursOf& neighbours_of) : size_(size), neighbours_of_(neighbours_of) {}

  std::optional<Grid> run() {
    if (!find_first_axes(0) || !propagate_axes()) return {};
    return to_grid();
  }

 private:
  /// Groups the neighbours of the first rank into axes.
  bool find_first_axes(std::uint32_t rank) {
    AxisNeighbours neighbours;
    if (!neighbours_of_(rank, neighbours) || neighbours.count == 0) return false;
    std::array<AxisNeighbours, max_axis_neighbours> around;
    for (std::size_t at = 0; at < neighbours.count; ++at) {
      if (!neighbours_of_(neighbours.ranks[at], around[at])) return false;
    }
    std::array<std::uint32_t, max_axis_neighbours> row;
    row.fill(none);
    std::array<bool, max_axis_neighbours> paired{};
    for (std::size_t a = 0; a < neighbours.count; ++a) {
      if (paired[a]) continue;
      if (axes_ == max_axes) return false;
      row[2 * axes_ + 1] = neighbours.ranks[a];
      for (std::size_t b = a + 1; b < neighbours.count; ++b) {
        if (paired[b] || share_another_neighbour(rank, around[a], around[b])) continue;
        if (row[2 * axes_] != none) return false;
        row[2 * axes_] = neighbours.ranks[b];
        paired[b] = true;
      }
      ++axes_;
    }
    width_ = 2 * axes_;
    neighbours_.resize(std::size_t{size_} * width_);
    state_.assign(size_, unseen);
    std::copy_n(row.begin(), width_, neighbours_.begin() + static_cast<std::ptrdiff_t>(rank * width_));
    state_[rank] = labelled;
    order_.reserve(size_);
    order_.push_back(rank);
    return true;
  }

  static bool share_another_neighbour(std::uint32_t rank, const AxisNeighbours& a, const AxisNeighbours& b) {
    return std::any_of(a.all().begin(), a.all().end(),
                       [&](std::uint32_t other) { return other != rank && contains(b.all(), other); });
  }

  /// Breadth first, so that two corners of a square are known when the fourth one is needed.
  bool propagate_axes() {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const std::uint32_t rank = order_[at];
      for (std::size_t direction = 0; direction < width_; ++direction) {
        const std::uint32_t next = row(rank)[direction];
        if (next == none) continue;
        if (state_[next] != labelled) {
          if (!label_directions(next, rank, direction)) return false;
          order_.push_back(next);
        } else if (row(next)[direction ^ 1] != rank) {
          return false;
        }
      }
    }
    return order_.size() == size_;
  }

  /// Sorts the neighbours of a rank by direction. `from` is a neighbour whose directions are known, and `incoming` the
  /// direction from it to the rank.
  bool label_directions(std::uint32_t rank, std::uint32_t from, std::size_t incoming) {
    if (!collect_neighbours(rank)) return false;
    std::array<std::uint32_t, max_axis_neighbours> sorted;
    sorted.fill(none);
    sorted[incoming ^ 1] = from;
    std::size_t placed = 1;
    for (std::size_t direction = 0; direction < width_; ++direction) {
      const std::uint32_t adjacent = row(from)[direction];
      if (direction / 2 == incoming / 2 || adjacent == none) continue;
      if (!collect_neighbours(adjacent)) return false;
      const std::uint32_t corner = fourth_corner(rank, adjacent, from);
      if (corner == none) return false;
      sorted[direction] = corner;
      ++placed;
    }
    for (const std::uint32_t other : row(rank)) {
      if (other == none || contains({sorted.data(), width_}, other)) continue;
      if (sorted[incoming] != none) return false;
      sorted[incoming] = other;
      ++placed;
    }
    if (placed != width_ - static_cast<std::size_t>(std::count(row(rank).begin(), row(rank).end(), none))) return false;
    std::copy_n(sorted.begin(), width_, row(rank).begin());
    state_[rank] = labelled;
    return true;
  }

  /// The only common neighbour of two ranks except `first`; `none` if there is none, or several.
  std::uint32_t fourth_corner(std::uint32_t one, std::uint32_t other, std::uint32_t first) {
    std::uint32_t corner = none;
    for (const std::uint32_t candidate : row(one)) {
      if (candidate == none || candidate == first || !contains(row(other), candidate)) continue;
      if (corner != none) return none;
      corner = candidate;
    }
    return corner;
  }

  /// Stores the neighbours of a rank, in any order.
  bool collect_neighbours(std::uint32_t rank) {
    if (state_[rank] != unseen) return true;
    AxisNeighbours neighbours;
    if (!neighbours_of_(rank, neighbours) || neighbours.count > width_) return false;
    const auto to = row(rank);
    std::fill(std::copy_n(neighbours.ranks.begin(), neighbours.count, to.begin()), to.end(), none);
    state_[rank] = collected;
    return true;
  }

  std::optional<Grid> to_grid() const {
    Grid grid;
    std::uint32_t origin = order_.front();
    std::uint64_t cells = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const std::uint32_t start = origin;
      std::uint32_t before = row(origin)[2 * axis];
      // Every edge was checked from both ends, so the walk ends at a boundary or where it began.
      while (before != none && before != start) origin = before, before = row(origin)[2 * axis];
      const bool wraps = before == start;
      if (wraps) origin = start;
      std::uint32_t extent = 1;
      for (auto at = row(origin)[2 * axis + 1]; at != none && at != origin && extent < size_; ++extent) {
        at = row(at)[2 * axis + 1];
      }
      grid.extent.push_back(extent);
      grid.wraps.push_back(wraps);
      cells *= extent;
      if (cells > size_) return {};
    }
    if (cells != size_) return {};
    return number_cells(origin, grid) ? std::optional(std::move(grid)) : std::nullopt;
  }

  /// Finds each cell from its predecessor on the last axis on which its coordinate is not 0.
  bool number_cells(std::uint32_t origin, Grid& grid) const {
    grid.cell_of.assign(size_, none);
    Array<std::uint32_t> rank_in(size_);
    std::array<std::uint32_t, max_axes> at{}, stride{};
    std::uint32_t step = 1;
    for (std::size_t axis = axes_; axis-- > 0; step *= grid.extent[axis]) stride[axis] = step;
    for (std::uint32_t cell = 0; cell < size_; ++cell) {
      std::uint32_t rank = origin;
      if (cell > 0) {
        std::size_t axis = axes_ - 1;
        while (++at[axis] == grid.extent[axis]) at[axis--] = 0;
        rank = row(rank_in[cell - stride[axis]])[2 * axis + 1];
      }
      if (rank == none || grid.cell_of[rank] != none) return false;
      rank_in[cell] = rank;
      grid.cell_of[rank] = cell;
    }
    return true;
  }

  enum State : std::uint8_t { unseen, collected, labelled };

  std::span<std::uint32_t> row(std::uint32_t rank) { return {neighbours_.data() + rank * width_, width_}; }
  std::span<const std::uint32_t> row(std::uint32_t rank) const { return {neighbours_.data() + rank * width_, width_}; }

  std::uint32_t size_;
  const NeighboursOf& neighbours_of_;
  std::size_t axes_ = 0;
  std::size_t width_ = 0;
  Array<std::uint32_t> neighbours_;  // by rank and direction
  std::vector<std::uint8_t> state_;
  std::vector<std::uint32_t> order_;
};

/// Weights that may separate kinds of neighbours: the gaps between the edge weights of a sample, from heavy to light.
template <class Id>
std::vector<double> thresholds(const AdjacencyView<Id>& adjacency) {
  std::vector<double> weights;
  for_sample(adjacency.size(), sample_size, [&](std::uint32_t rank) {
    if (weights.size() < std::size_t{1} << 16)
      adjacency.each(rank, [&](std::uint32_t, double bytes) { weights.push_back(bytes); });
  });
  std::sort(weights.begin(), weights.end(), std::greater<>());
  std::vector<double> limits;
  for (std::size_t at = 0; at + 1 < weights.size() && limits.size() < max_thresholds; ++at) {
    if (weights[at] > max_ratio_of_same_kind * weights[at + 1]) limits.push_back((weights[at] + weights[at + 1]) / 2);
  }
  limits.push_back(0);
  return limits;
}

}  // namespace

template <class Id>
std::optional<Grid> embed_grid(const AdjacencyView<Id>& adjacency) {
  if (adjacency.size() < 2) return {};
  const auto embed = [&](const auto& neighbours_of) {
    auto guess = GridEmbedding(adjacency.size(), neighbours_of).run();
    return guess ? verify_grid(adjacency, *std::move(guess)) : guess;
  };
  for (const double min_weight : thresholds(adjacency)) {
    if (auto grid = embed(MinWeightRule<Id>(adjacency, min_weight))) return grid;
  }
  return embed(CommonNeighbourRule<Id>(adjacency));
}

template std::optional<Grid> embed_grid(const AdjacencyView<Rank>&);
template std::optional<Grid> embed_grid(const AdjacencyView<std::uint32_t>&);

}  // namespace rankloom
