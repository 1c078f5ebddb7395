// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: a beam search over guillotine cuts.
#include "rankloom/map/structure/tiling/cut_plan.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {
namespace {

/// This many of the cheapest cuts of one level are extended to the levels below.
constexpr std::size_t beam_width = 6;
/// Every number of slabs up to this one is tried, and beyond it every multiple of a growing step: fewer for many axes.
std::uint32_t slab_resolution(std::size_t axes) {
  return axes <= 2 ? 64 : axes == 3 ? 16 : 2;
}

bool is_integral(double value) {
  return std::abs(value - std::round(value)) < 1e-6;
}

}  // namespace

double CutPlan::step_bytes(const Sides<double>& slab, std::size_t axis) const {
  if (is_integral(slab[axis] / base_tile_[axis])) return 0;
  double volume = 1;
  for (std::size_t at = 0; at < traffic_.axes(); ++at) volume *= std::max(1.0, slab[at]);
  double min_bytes = -1;
  for (std::size_t other = 0; other < traffic_.axes(); ++other) {
    if (other == axis) continue;
    const double area = volume / std::max(1.0, slab[axis]) / std::max(1.0, slab[other]) * base_tile_[axis];
    const double bytes = area * traffic_.axis_bytes(other);
    if (min_bytes < 0 || bytes < min_bytes) min_bytes = bytes;
  }
  return std::max(0.0, min_bytes) * static_cast<double>(traffic_.cells()) / volume;
}

void CutPlan::collect(double pieces, const Sides<double>& sides, const SlabCuts& cuts, double bytes_of_steps,
                      std::vector<Option>& options) const {
  const std::uint32_t resolution = slab_resolution(traffic_.axes());
  for (std::size_t axis = 0; axis < traffic_.axes(); ++axis) {
    const auto used = cuts.axis.begin() + static_cast<std::ptrdiff_t>(cuts.axes);
    if (std::find(cuts.axis.begin(), used, axis) != used || sides[axis] <= base_tile_[axis]) continue;
    SlabCuts extended = cuts;
    extended.axis[extended.axes++] = static_cast<std::uint8_t>(axis);
    Sides<double> cut = sides;
    cut[axis] = sides[axis] / pieces;
    // Pieces thinner than the base tile would overlap: such cuts get a penalty.
    const double thin_penalty = std::max(1.0, base_tile_[axis] / cut[axis] / (1 + 1e-9));
    options.push_back(
        {(traffic_.crossing_bytes(cut) + bytes_of_steps + step_bytes(cut, axis)) * thin_penalty, extended, cut});
    const double max_slabs = std::min(pieces / 2, sides[axis] / base_tile_[axis] + 1e-6);
    for (std::uint32_t slabs = 2; slabs <= max_slabs; slabs += std::max<std::uint32_t>(1, slabs / resolution)) {
      extended.slabs[extended.axes - 1] = slabs;
      cut[axis] = sides[axis] / slabs;
      collect(pieces / slabs, cut, extended, bytes_of_steps + step_bytes(cut, axis), options);
    }
  }
}

std::span<const CutPlan::Choice> CutPlan::choices(std::size_t level, double pieces, const Sides<double>& sides) {
  Key key{level, {}};
  key.second[max_axes] = std::llround(pieces * 64);
  for (std::size_t axis = 0; axis < traffic_.axes(); ++axis) key.second[axis] = std::llround(sides[axis] * 64);
  if (const auto cached = cache_.find(key); cached != cache_.end()) return cached->second;
  std::vector<Option> options;
  collect(pieces, sides, {}, 0, options);
  const auto cheaper = [](const auto& a, const auto& b) { return a.cost < b.cost; };
  std::stable_sort(options.begin(), options.end(), cheaper);
  if (options.size() > beam_width) options.resize(beam_width);
  const double bytes_around = traffic_.crossing_bytes(sides);
  std::vector<Choice> choices;
  for (const Option& option : options) {
    double cost = levels_[level].distance * (option.cost - bytes_around);
    if (level + 1 < levels_.size()) {
      const auto below = this->choices(level + 1, levels_[level + 1].arity, option.sides);
      // The levels below count boundaries without the offsets of this level.
      const double step_cost = option.cost - traffic_.crossing_bytes(option.sides);
      if (!below.empty()) cost += below.front().cost - levels_[level + 1].distance * step_cost;
    }
    choices.push_back({cost, option.cuts});
  }
  std::stable_sort(choices.begin(), choices.end(), cheaper);
  return cache_.emplace(key, std::move(choices)).first->second;
}

}  // namespace rankloom
