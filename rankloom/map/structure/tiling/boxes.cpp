// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: costs of boxes in closed form, and dynamic programming over all hierarchies of equal boxes.
#include "rankloom/map/structure/tiling/boxes.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

/// Calls visit(factors) for every factorisation of the number into one factor per axis, where the factor of an axis
/// divides its limit.
template <class Visit>
void each_factorisation(std::uint32_t number, const Box& limit, std::size_t axes, std::size_t axis, Box& factors,
                        const Visit& visit) {
  if (axis + 1 >= std::min(axes, max_axes)) {
    if (limit[axis] % number != 0) return;
    factors[axis] = number;
    visit(factors);
    return;
  }
  for (std::uint32_t factor = 1; factor <= number && factor <= limit[axis]; ++factor) {
    if (number % factor != 0 || limit[axis] % factor != 0) continue;
    factors[axis] = factor;
    each_factorisation(number / factor, limit, axes, axis + 1, factors, visit);
  }
}

}  // namespace

BoundaryTraffic::BoundaryTraffic(const Grid& grid) : axes_(grid.extent.size()), directions_(grid.directions) {
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    extent_[axis] = grid.extent[axis];
    length_[axis] = grid.extent[axis];
    wraps_[axis] = grid.wraps[axis];
    cells_ *= grid.extent[axis];
  }
  for (const auto& direction : directions_) {
    std::size_t steps_taken = 0, axis = 0;
    for (std::size_t at = 0; at < axes_; ++at) {
      if (direction.step[at] != 0) ++steps_taken, axis = at;
    }
    if (steps_taken != 1) continue;
    const double pairs_per_line = length_[axis] - (wraps_[axis] ? 0 : 1);
    axis_bytes_[axis] = direction.bytes / (static_cast<double>(cells_) / length_[axis] * pairs_per_line);
  }
}

double BoundaryTraffic::crossing_bytes(const Sides<double>& sides) const {
  std::array<double, max_axes> stays{};  // fraction of the steps along the axis that stay inside their box
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
  double bytes = 0;
  for (const auto& direction : directions_) {
    double inside = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) inside *= direction.step[axis] != 0 ? stays[axis] : 1;
    bytes += direction.bytes * (1 - inside);
  }
  return bytes;
}

double BoundaryTraffic::crossing_bytes(const Box& box) const {
  Sides<double> sides;
  std::copy(box.begin(), box.end(), sides.begin());
  return crossing_bytes(sides);
}

double BoundaryTraffic::min_crossing_bytes(double cells_per_box) const {
  Sides<double> sides;
  sides.fill(1);
  const double exponent = std::log(cells_per_box) / std::log(static_cast<double>(cells_));
  for (std::size_t axis = 0; axis < axes_; ++axis) sides[axis] = std::pow(length_[axis], exponent);
  // One axis becomes longer and another one shorter for as long as that reduces the bytes, by smaller and smaller
  // steps.
  double least = crossing_bytes(sides);
  const auto improve = [&](double step) {
    bool improved = false;
    for (std::size_t longer = 0; longer < axes_; ++longer) {
      for (std::size_t shorter = 0; shorter < axes_; ++shorter) {
        if (shorter == longer || sides[longer] * step > length_[longer] || sides[shorter] < step) continue;
        Sides<double> changed = sides;
        changed[longer] *= step;
        changed[shorter] /= step;
        const double bytes = crossing_bytes(changed);
        if (bytes >= least) continue;
        sides = changed;
        least = bytes;
        improved = true;
      }
    }
    return improved;
  };
  for (const double step : {2.0, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01}) {
    while (improve(step)) {
    }
  }
  return least;
}

EvenTilings::EvenTilings(const BoundaryTraffic& traffic, std::span<const BoxLevel> levels) {
  by_level_.push_back({{unit_box(), {0, unit_box()}}});
  for (const BoxLevel& level : levels) {
    std::map<Box, Entry> boxes;
    for (const auto& [box, entry] : by_level_.back()) {
      const double bytes_around = traffic.crossing_bytes(box);
      Box limit = unit_box(), factors = unit_box();
      for (std::size_t axis = 0; axis < traffic.axes(); ++axis) limit[axis] = traffic.extent(axis) / box[axis];
      each_factorisation(
          level.arity, limit, traffic.axes(), 0, factors, [&, &box = box, &entry = entry](const Box& factorisation) {
            Box larger = unit_box();
            for (std::size_t axis = 0; axis < traffic.axes(); ++axis) larger[axis] = box[axis] * factorisation[axis];
            const double cost = entry.cost + level.distance * (bytes_around - traffic.crossing_bytes(larger));
            const auto [known, is_new] = boxes.try_emplace(larger, Entry{cost, box});
            if (!is_new && cost < known->second.cost) known->second = {cost, box};
          });
    }
    if (boxes.empty()) return;
    by_level_.push_back(std::move(boxes));
  }
}

std::vector<Box> EvenTilings::chain(std::size_t levels, Box box) const {
  std::vector<Box> boxes;
  for (; levels > 0; --levels) {
    boxes.push_back(box);
    box = by_level_[levels].at(box).below;
  }
  std::reverse(boxes.begin(), boxes.end());
  return boxes;
}

std::vector<std::uint32_t> slot_order_in_box(std::span<const Box> chain, std::size_t axes) {
  if (chain.empty()) return {0};
  const Box& box = chain.back();
  std::size_t cells = 1;
  for (const std::uint32_t side : box) cells *= side;
  std::vector<std::uint32_t> slot_of(cells);
  parallel_chunks(cells, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      Box at{};
      std::size_t rest = cell;
      for (std::size_t axis = axes; axis-- > 0; rest /= box[axis]) {
        at[axis] = static_cast<std::uint32_t>(rest % box[axis]);
      }
      std::uint32_t slot = 0;
      for (std::size_t level = chain.size(); level-- > 0;) {
        const Box below = level > 0 ? chain[level - 1] : unit_box();
        for (std::size_t axis = 0; axis < axes; ++axis) {
          slot = slot * (chain[level][axis] / below[axis]) + at[axis] / below[axis];
          at[axis] %= below[axis];
        }
      }
      slot_of[cell] = slot;
    }
  });
  return slot_of;
}

}  // namespace rankloom
