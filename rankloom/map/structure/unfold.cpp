// SPDX-License-Identifier: Apache-2.0
// map/structure: the axes of a grid, carried on from rank to rank.
#include "rankloom/map/structure/unfold.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/map/structure/survey.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t most_faces = 2 * max_axes;
constexpr std::uint32_t looked_at = 256;
constexpr std::size_t most_thresholds = 12;
/// Weights of one kind of neighbour lie closer together than this, those of two kinds may lie further apart.
constexpr double same_kind = 1.1;

/// The neighbours along the axes, as far as they are known; false when there are too many.
struct Faces {
  std::array<std::uint32_t, most_faces> of;
  std::size_t count = 0;

  bool add(std::uint32_t rank) {
    if (count == most_faces) return false;
    of[count++] = rank;
    return true;
  }
  std::span<const std::uint32_t> all() const { return {of.data(), count}; }
};

/// Edges at least this heavy lead along an axis.
template <class Id>
class HeavyFaces {
 public:
  HeavyFaces(const Links<Id>& links, double least) : links_(links), least_(least) {}
  bool operator()(std::uint32_t rank, Faces& faces) const {
    bool few = true;
    links_.each(rank, [&](std::uint32_t other, double bytes) { few = few && (bytes < least_ || faces.add(other)); });
    return few;
  }

 private:
  const Links<Id>& links_;
  double least_;
};

/// Where ranks talk across all corners, all neighbours of a rank can be told apart by how many neighbours of their own
/// they share with it: with itself counted, a rank has 3 cells within reach on every axis, 2 at an open side. Two ranks
/// share 2 on each axis on which they lie apart, so along one axis they share 2/3 of those of the inner one, across a
/// corner 4/9. At the edge of two open sides, ranks that lie across from each other also share 2/3: both are as far
/// out, and a rank further in is next to both.
template <class Id>
class CloseFaces {
 public:
  explicit CloseFaces(const Links<Id>& links) : links_(links) {}
  bool operator()(std::uint32_t rank, Faces& faces) const {
    Reach own, theirs;
    if (!reach(rank, own)) return false;
    for (const std::uint32_t other : own.all()) {
      if (other == rank) continue;
      if (!reach(other, theirs)) return false;
      if (along_an_axis(own, theirs) && !is_across_an_edge(own, theirs) && !faces.add(other)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t most_neighbours = 81;  // four axes
  /// A rank and its neighbours, in order.
  struct Reach {
    std::array<std::uint32_t, most_neighbours> of;
    std::size_t count = 0;
    std::span<const std::uint32_t> all() const { return {of.data(), count}; }
    bool contains(std::uint32_t rank) const { return std::binary_search(of.data(), of.data() + count, rank); }
  };

  /// False when they are too many for a grid.
  bool reach(std::uint32_t rank, Reach& found) const {
    found.count = 0;
    bool few = true, listed = false;
    const auto add = [&](std::uint32_t other) {
      few = few && found.count < most_neighbours;
      if (few) found.of[found.count++] = other;
    };
    links_.each(rank, [&](std::uint32_t other, double) {
      if (!listed && other > rank) listed = true, add(rank);
      add(other);
    });
    if (!listed) add(rank);
    return few;
  }
  static bool along_an_axis(const Reach& one, const Reach& other) {
    std::size_t common = 0;
    for (std::size_t a = 0, b = 0; a < one.count && b < other.count;) {
      const std::uint32_t left = one.of[a], right = other.of[b];
      common += left == right;
      a += left <= right;
      b += right <= left;
    }
    return 3 * common >= 2 * std::max(one.count, other.count);
  }
  bool is_across_an_edge(const Reach& one, const Reach& other) const {
    if (one.count != other.count) return false;
    Reach within;
    for (const std::uint32_t inner : one.all()) {
      if (!other.contains(inner) || !reach(inner, within) || within.count <= one.count) continue;
      if (along_an_axis(one, within) && along_an_axis(other, within)) return true;
    }
    return false;
  }

  const Links<Id>& links_;
};

bool contains(std::span<const std::uint32_t> ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Directions are numbered 2·axis for the way back and 2·axis + 1 for the way forth; `^ 1` turns round.
template <class FacesOf>
class Unfolding {
 public:
  Unfolding(std::uint32_t size, const FacesOf& faces_of) : size_(size), faces_of_(faces_of) {}

  std::optional<Grid> run() {
    if (!begin_at(0) || !carry_on()) return {};
    return laid_out();
  }

 private:
  /// Pairs the neighbours of the first rank up into axes.
  bool begin_at(std::uint32_t rank) {
    Faces faces;
    if (!faces_of_(rank, faces) || faces.count == 0) return false;
    std::array<Faces, most_faces> around;
    for (std::size_t at = 0; at < faces.count; ++at) {
      if (!faces_of_(faces.of[at], around[at])) return false;
    }
    std::array<std::uint32_t, most_faces> row;
    row.fill(nobody);
    std::array<bool, most_faces> paired{};
    for (std::size_t a = 0; a < faces.count; ++a) {
      if (paired[a]) continue;
      if (axes_ == max_axes) return false;
      row[2 * axes_ + 1] = faces.of[a];
      for (std::size_t b = a + 1; b < faces.count; ++b) {
        if (paired[b] || share_a_square(rank, around[a], around[b])) continue;
        if (row[2 * axes_] != nobody) return false;
        row[2 * axes_] = faces.of[b];
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

  static bool share_a_square(std::uint32_t rank, const Faces& a, const Faces& b) {
    return std::any_of(a.all().begin(), a.all().end(),
                       [&](std::uint32_t other) { return other != rank && contains(b.all(), other); });
  }

  /// Breadth first, so that both other corners of a square are known when it is closed.
  bool carry_on() {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const std::uint32_t rank = order_[at];
      for (std::size_t direction = 0; direction < width_; ++direction) {
        const std::uint32_t next = row(rank)[direction];
        if (next == nobody) continue;
        if (state_[next] != labelled) {
          if (!label(next, rank, direction)) return false;
          order_.push_back(next);
        } else if (row(next)[direction ^ 1] != rank) {
          return false;
        }
      }
    }
    return order_.size() == size_;
  }

  /// Sorts the neighbours of a rank by direction, from a rank where that is done and the direction that leads here.
  bool label(std::uint32_t rank, std::uint32_t from, std::size_t way) {
    if (!gather(rank)) return false;
    std::array<std::uint32_t, most_faces> sorted;
    sorted.fill(nobody);
    sorted[way ^ 1] = from;
    std::size_t placed = 1;
    for (std::size_t direction = 0; direction < width_; ++direction) {
      const std::uint32_t beside = row(from)[direction];
      if (direction / 2 == way / 2 || beside == nobody) continue;
      if (!gather(beside)) return false;
      const std::uint32_t corner = fourth_corner(rank, beside, from);
      if (corner == nobody) return false;
      sorted[direction] = corner;
      ++placed;
    }
    for (const std::uint32_t other : row(rank)) {
      if (other == nobody || contains({sorted.data(), width_}, other)) continue;
      if (sorted[way] != nobody) return false;
      sorted[way] = other;
      ++placed;
    }
    if (placed != width_ - static_cast<std::size_t>(std::count(row(rank).begin(), row(rank).end(), nobody)))
      return false;
    std::copy_n(sorted.begin(), width_, row(rank).begin());
    state_[rank] = labelled;
    return true;
  }

  /// The one common neighbour of two ranks beside the given one; nobody when there is none, or several.
  std::uint32_t fourth_corner(std::uint32_t one, std::uint32_t other, std::uint32_t first) {
    std::uint32_t corner = nobody;
    for (const std::uint32_t candidate : row(one)) {
      if (candidate == nobody || candidate == first || !contains(row(other), candidate)) continue;
      if (corner != nobody) return nobody;
      corner = candidate;
    }
    return corner;
  }

  /// The neighbours of a rank, in any order.
  bool gather(std::uint32_t rank) {
    if (state_[rank] != unseen) return true;
    Faces faces;
    if (!faces_of_(rank, faces) || faces.count > width_) return false;
    const auto place = row(rank);
    std::fill(std::copy_n(faces.of.begin(), faces.count, place.begin()), place.end(), nobody);
    state_[rank] = gathered;
    return true;
  }

  std::optional<Grid> laid_out() const {
    Grid grid;
    std::uint32_t origin = order_.front();
    std::uint64_t cells = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const std::uint32_t start = origin;
      std::uint32_t before = row(origin)[2 * axis];
      // Every step was seen from both ends, so the walk ends at a side or where it began.
      while (before != nobody && before != start) origin = before, before = row(origin)[2 * axis];
      const bool wraps = before == start;
      if (wraps) origin = start;
      std::uint32_t extent = 1;
      for (auto at = row(origin)[2 * axis + 1]; at != nobody && at != origin && extent < size_; ++extent) {
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

  /// Each cell is found from the one before it on the last axis on which it is not the first.
  bool number_cells(std::uint32_t origin, Grid& grid) const {
    grid.position_of.assign(size_, nobody);
    Array<std::uint32_t> rank_in(size_);
    std::array<std::uint32_t, max_axes> place{}, stride{};
    std::uint32_t step = 1;
    for (std::size_t axis = axes_; axis-- > 0; step *= grid.extent[axis]) stride[axis] = step;
    for (std::uint32_t cell = 0; cell < size_; ++cell) {
      std::uint32_t rank = origin;
      if (cell > 0) {
        std::size_t axis = axes_ - 1;
        while (++place[axis] == grid.extent[axis]) place[axis--] = 0;
        rank = row(rank_in[cell - stride[axis]])[2 * axis + 1];
      }
      if (rank == nobody || grid.position_of[rank] != nobody) return false;
      rank_in[cell] = rank;
      grid.position_of[rank] = cell;
    }
    return true;
  }

  enum State : std::uint8_t { unseen, gathered, labelled };

  std::span<std::uint32_t> row(std::uint32_t rank) { return {neighbours_.data() + rank * width_, width_}; }
  std::span<const std::uint32_t> row(std::uint32_t rank) const { return {neighbours_.data() + rank * width_, width_}; }

  std::uint32_t size_;
  const FacesOf& faces_of_;
  std::size_t axes_ = 0;
  std::size_t width_ = 0;
  Array<std::uint32_t> neighbours_;  // by rank and direction
  std::vector<std::uint8_t> state_;
  std::vector<std::uint32_t> order_;
};

/// Where kinds of neighbours may be told apart: the least weight of each kind of some ranks, the heaviest first.
template <class Id>
std::vector<double> thresholds(const Links<Id>& links) {
  std::vector<double> weights;
  for_some(links.size(), looked_at, [&](std::uint32_t rank) {
    if (weights.size() < std::size_t{1} << 16)
      links.each(rank, [&](std::uint32_t, double bytes) { weights.push_back(bytes); });
  });
  std::sort(weights.begin(), weights.end(), std::greater<>());
  std::vector<double> least;
  for (std::size_t at = 0; at + 1 < weights.size() && least.size() < most_thresholds; ++at) {
    if (weights[at] > same_kind * weights[at + 1]) least.push_back((weights[at] + weights[at + 1]) / 2);
  }
  least.push_back(0);
  return least;
}

}  // namespace

template <class Id>
std::optional<Grid> unfolded_grid(const Links<Id>& links) {
  if (links.size() < 2) return {};
  const auto unfolded = [&](const auto& faces) {
    auto guess = Unfolding(links.size(), faces).run();
    return guess ? confirmed(links, *std::move(guess)) : guess;
  };
  for (const double least : thresholds(links)) {
    if (auto grid = unfolded(HeavyFaces<Id>(links, least))) return grid;
  }
  return unfolded(CloseFaces<Id>(links));
}

template std::optional<Grid> unfolded_grid(const Links<Rank>&);
template std::optional<Grid> unfolded_grid(const Links<std::uint32_t>&);

}  // namespace rankloom
