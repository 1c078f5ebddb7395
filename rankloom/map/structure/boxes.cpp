// SPDX-License-Identifier: Apache-2.0
// map/structure: costs of boxes in closed form, and a search over all even ones.
#include "rankloom/map/structure/boxes.hpp"

#include <algorithm>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

/// Calls found(factors) for every way to write the number as a product with one factor for each axis that divides the
/// axis's room.
template <class Found>
void each_product(std::uint32_t number, const Box& room, std::size_t axes, std::size_t axis, Box& factors,
                  const Found& found) {
  if (axis + 1 >= std::min(axes, max_axes)) {
    if (room[axis] % number != 0) return;
    factors[axis] = number;
    found(factors);
    return;
  }
  for (std::uint32_t factor = 1; factor <= number && factor <= room[axis]; ++factor) {
    if (number % factor != 0 || room[axis] % factor != 0) continue;
    factors[axis] = factor;
    each_product(number / factor, room, axes, axis + 1, factors, found);
  }
}

}  // namespace

Walls::Walls(const Grid& grid) : axes_(grid.extent.size()), directions_(grid.directions) {
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    extent_[axis] = grid.extent[axis];
    length_[axis] = grid.extent[axis];
    wraps_[axis] = grid.wraps[axis];
    cells_ *= grid.extent[axis];
  }
  for (const auto& direction : directions_) {
    std::size_t moved = 0, axis = 0;
    for (std::size_t at = 0; at < axes_; ++at) {
      if (direction.step[at] != 0) ++moved, axis = at;
    }
    if (moved != 1) continue;
    const double steps = length_[axis] - (wraps_[axis] ? 0 : 1);
    face_bytes_[axis] = direction.bytes / (static_cast<double>(cells_) / length_[axis] * steps);
  }
}

double Walls::crossing(const Sides<double>& sides) const {
  std::array<double, max_axes> stays{};  // share of the steps along the axis that stay in their box
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const double side = std::max(1.0, sides[axis]);
    if (side >= length_[axis]) {
      stays[axis] = 1;
    } else if (wraps_[axis]) {
      stays[axis] = 1 - 1 / side;
    } else {
      stays[axis] = (length_[axis] - length_[axis] / side) / (length_[axis] - 1);
    }
  }
  double crossing = 0;
  for (const auto& direction : directions_) {
    double inside = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) inside *= direction.step[axis] != 0 ? stays[axis] : 1;
    crossing += direction.bytes * (1 - inside);
  }
  return crossing;
}

double Walls::crossing(const Box& box) const {
  Sides<double> sides;
  std::copy(box.begin(), box.end(), sides.begin());
  return crossing(sides);
}

EvenBoxes::EvenBoxes(const Walls& walls, std::span<const BoxLevel> levels) {
  by_level_.push_back({{unit_box(), {0, unit_box()}}});
  for (const BoxLevel& level : levels) {
    std::map<Box, Joined> joined;
    for (const auto& [box, entry] : by_level_.back()) {
      const double around = walls.crossing(box);
      Box room = unit_box(), factors = unit_box();
      for (std::size_t axis = 0; axis < walls.axes(); ++axis) room[axis] = walls.extent(axis) / box[axis];
      each_product(level.arity, room, walls.axes(), 0, factors, [&, &box = box, &entry = entry](const Box& found) {
        Box larger = unit_box();
        for (std::size_t axis = 0; axis < walls.axes(); ++axis) larger[axis] = box[axis] * found[axis];
        const double cost = entry.cost + level.distance * (around - walls.crossing(larger));
        const auto [place, is_new] = joined.try_emplace(larger, Joined{cost, box});
        if (!is_new && cost < place->second.cost) place->second = {cost, box};
      });
    }
    if (joined.empty()) return;
    by_level_.push_back(std::move(joined));
  }
}

std::vector<Box> EvenBoxes::chain(std::size_t levels, Box box) const {
  std::vector<Box> boxes;
  for (; levels > 0; --levels) {
    boxes.push_back(box);
    box = by_level_[levels].at(box).below;
  }
  std::reverse(boxes.begin(), boxes.end());
  return boxes;
}

std::vector<std::uint32_t> places_in_box(std::span<const Box> chain, std::size_t axes) {
  if (chain.empty()) return {0};
  const Box& whole = chain.back();
  std::size_t cells = 1;
  for (const std::uint32_t side : whole) cells *= side;
  std::vector<std::uint32_t> place_of(cells);
  parallel_chunks(cells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      Box at{};
      std::size_t left = cell;
      for (std::size_t axis = axes; axis-- > 0; left /= whole[axis]) {
        at[axis] = static_cast<std::uint32_t>(left % whole[axis]);
      }
      std::uint32_t place = 0;
      for (std::size_t level = chain.size(); level-- > 0;) {
        const Box below = level > 0 ? chain[level - 1] : unit_box();
        for (std::size_t axis = 0; axis < axes; ++axis) {
          place = place * (chain[level][axis] / below[axis]) + at[axis] / below[axis];
          at[axis] %= below[axis];
        }
      }
      place_of[cell] = place;
    }
  });
  return place_of;
}

}  // namespace rankloom
