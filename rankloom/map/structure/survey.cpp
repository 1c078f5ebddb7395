// SPDX-License-Identifier: Apache-2.0
// map/structure: edges counted by direction.
#include "rankloom/map/structure/survey.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

constexpr double most_odd = 0.02;
constexpr double fewest_faces = 0.95;
constexpr std::size_t ranks_in_chunk = 16384;

/// Difference of two cells' numbers → direction, for cells that no side of the grid is near. Every axis has 3 cells or
/// more there, so differences tell directions apart.
class DirectionOf {
 public:
  explicit DirectionOf(const Cells& cells) {
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

int opposite(const Cells& cells, int direction) {
  return cells.direction_count() - 1 - direction;
}

bool along_an_axis(const AxisSteps& steps) {
  return std::count(steps.begin(), steps.end(), 0) == static_cast<std::ptrdiff_t>(max_axes) - 1;
}

/// Everything that a loop over ranks needs.
template <class Id>
class Surveyor {
 public:
  Surveyor(const Links<Id>& links, const Grid& grid) : links_(links), grid_(grid), cells_(grid), direction_of_(cells_) {
    for (int direction = 0; direction < cells_.direction_count(); ++direction) {
      is_face_.push_back(along_an_axis(cells_.steps(direction)));
    }
  }

  Survey start() const {
    Survey found;
    found.by_direction.resize(static_cast<std::size_t>(cells_.direction_count()));
    return found;
  }

  void look_at(std::uint32_t rank, Survey& found) const {
    const std::uint32_t cell = grid_.position(rank);
    const Cells::Place place = cells_.place(cell);
    found.faces_due += cells_.faces(place);
    const auto count = [&](int direction, double bytes) {
      ++found.edges;
      if (direction < 0) {
        ++found.odd_edges, found.odd_bytes += bytes;
        return;
      }
      const auto at = static_cast<std::size_t>(direction);
      auto& tally = found.by_direction[at];
      ++tally.edges, tally.bytes += bytes, tally.squares += bytes * bytes;
      found.faces += is_face_[at];
    };
    if (cells_.inside(place)) {
      links_.each(rank, [&](std::uint32_t other, double bytes) {
        count(direction_of_(static_cast<std::int64_t>(grid_.position(other)) - cell), bytes);
      });
    } else {
      links_.each(rank, [&](std::uint32_t other, double bytes) {
        count(cells_.direction(place, cells_.place(grid_.position(other))), bytes);
      });
    }
  }

 private:
  const Links<Id>& links_;
  const Grid& grid_;
  Cells cells_;
  DirectionOf direction_of_;
  std::vector<std::uint8_t> is_face_;
};

/// Every axis for itself: a thin one must not hide behind the others.
bool every_axis_fits(const Cells& cells, const Survey& found, std::uint64_t ranks) {
  for (int direction = 0; direction < cells.direction_count(); ++direction) {
    const AxisSteps steps = cells.steps(direction);
    if (!along_an_axis(steps)) continue;
    const auto axis = static_cast<std::size_t>(
        std::find_if(steps.begin(), steps.end(), [](int step) { return step != 0; }) - steps.begin());
    const std::uint64_t lines = ranks / cells.extent(axis);
    const std::uint64_t due = lines * (cells.extent(axis) - (cells.wraps(axis) ? 0 : 1));
    if (static_cast<double>(found.by_direction[static_cast<std::size_t>(direction)].edges) <
        fewest_faces * static_cast<double>(due)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::uint32_t Grid::cell_count() const {
  std::uint32_t cells = 1;
  for (const std::uint32_t side : extent) cells *= side;
  return cells;
}

Cells::Cells(const Grid& grid) : axes_(grid.extent.size()) {
  std::uint64_t stride = 1;
  for (std::size_t axis = axes_; axis-- > 0;) {
    extent_[axis] = grid.extent[axis];
    wraps_[axis] = grid.wraps[axis];
    stride_[axis] = stride;
    stride *= extent_[axis];
    direction_count_ *= 3;
  }
}

Cells::Place Cells::place(std::uint32_t cell) const {
  Place place{};
  for (std::size_t axis = axes_; axis-- > 0;) {
    place[axis] = cell % extent_[axis];
    cell /= extent_[axis];
  }
  return place;
}

std::uint32_t Cells::cell(const Place& place) const {
  std::uint32_t cell = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) cell = cell * extent_[axis] + place[axis];
  return cell;
}

int Cells::direction(const Place& from, const Place& to) const {
  int direction = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const std::int64_t way = static_cast<std::int64_t>(to[axis]) - from[axis];
    int digit = 0;
    if (way >= -1 && way <= 1) {
      digit = static_cast<int>(way) + 1;
    } else if (wraps_[axis] && std::abs(way) == std::int64_t{extent_[axis]} - 1) {
      digit = way > 0 ? 0 : 2;
    } else {
      return -1;
    }
    direction = direction * 3 + digit;
  }
  return direction;
}

std::uint32_t Cells::faces(const Place& place) const {
  std::uint32_t faces = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    faces += wraps_[axis] || place[axis] > 0;
    faces += wraps_[axis] || place[axis] + 1 < extent_[axis];
  }
  return faces;
}

bool Cells::inside(const Place& place) const {
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    if (place[axis] == 0 || place[axis] + 1 == extent_[axis]) return false;
  }
  return true;
}

AxisSteps Cells::steps(int direction) const {
  AxisSteps steps{};
  for (std::size_t axis = axes_; axis-- > 0;) {
    steps[axis] = static_cast<std::int8_t>(direction % 3 - 1);
    direction /= 3;
  }
  return steps;
}

Survey& Survey::operator+=(const Survey& other) {
  if (by_direction.empty()) by_direction.resize(other.by_direction.size());
  for (std::size_t at = 0; at < by_direction.size(); ++at) {
    by_direction[at].edges += other.by_direction[at].edges;
    by_direction[at].bytes += other.by_direction[at].bytes;
    by_direction[at].squares += other.by_direction[at].squares;
  }
  edges += other.edges;
  odd_edges += other.odd_edges;
  odd_bytes += other.odd_bytes;
  faces += other.faces;
  faces_due += other.faces_due;
  return *this;
}

bool Survey::fits() const {
  return static_cast<double>(odd_edges) <= most_odd * static_cast<double>(edges) &&
         static_cast<double>(faces) >= fewest_faces * static_cast<double>(faces_due);
}

template <class Id>
Survey survey(const Links<Id>& links, const Grid& grid, std::span<const std::uint32_t> ranks) {
  const Surveyor<Id> surveyor(links, grid);
  Survey found = surveyor.start();
  for (const std::uint32_t rank : ranks) surveyor.look_at(rank, found);
  return found;
}

template <class Id>
Survey survey(const Links<Id>& links, const Grid& grid) {
  const Surveyor<Id> surveyor(links, grid);
  return parallel_sum<Survey>(
      links.size(),
      [&](std::size_t begin, std::size_t end) {
        Survey found = surveyor.start();
        for (std::size_t rank = begin; rank < end; ++rank) surveyor.look_at(static_cast<std::uint32_t>(rank), found);
        return found;
      },
      ranks_in_chunk);
}

template <class Id>
std::optional<Grid> confirmed(const Links<Id>& links, Grid grid) {
  const Cells cells(grid);
  const Survey found = survey(links, grid);
  const double bytes = std::transform_reduce(found.by_direction.begin(), found.by_direction.end(), 0.0, std::plus<>(),
                                             [](const Survey::Tally& tally) { return tally.bytes; });
  if (!found.fits() || found.odd_bytes > most_odd * bytes || !every_axis_fits(cells, found, links.size())) return {};
  double variance = 0;  // of all edges around the mean of their direction, weighted by bytes
  for (int direction = cells.direction_count() / 2 + 1; direction < cells.direction_count(); ++direction) {
    Survey::Tally both = found.by_direction[static_cast<std::size_t>(direction)];
    const auto& back = found.by_direction[static_cast<std::size_t>(opposite(cells, direction))];
    both.edges += back.edges, both.bytes += back.bytes, both.squares += back.squares;
    if (both.edges == 0) continue;
    grid.directions.push_back({cells.steps(direction), both.bytes});
    const double mean = both.bytes / static_cast<double>(both.edges);
    const double deviation = both.squares / static_cast<double>(both.edges) / (mean * mean) - 1;
    variance += std::max(0.0, deviation) * both.bytes;
  }
  grid.spread = variance > 1e-12 * bytes ? std::sqrt(variance / bytes) : 0;
  grid.exact = found.odd_edges == 0 && found.faces == found.faces_due;
  return grid;
}

template Survey survey(const Links<Rank>&, const Grid&, std::span<const std::uint32_t>);
template Survey survey(const Links<std::uint32_t>&, const Grid&, std::span<const std::uint32_t>);
template std::optional<Grid> confirmed(const Links<Rank>&, Grid);
template std::optional<Grid> confirmed(const Links<std::uint32_t>&, Grid);

}  // namespace rankloom
