// SPDX-License-Identifier: Apache-2.0
// map/structure: a beam search over cuts.
#include "rankloom/map/structure/cut_plan.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {
namespace {

/// So many of the cheapest ways to cut one level are followed to the levels below.
constexpr std::size_t beam = 6;
/// Numbers of slabs are tried one by one up to here, then in steps of this share; the more axes, the fewer.
std::uint32_t fineness(std::size_t axes) {
  return axes <= 2 ? 64 : axes == 3 ? 16 : 2;
}

bool whole(double value) {
  return std::abs(value - std::round(value)) < 1e-6;
}

}  // namespace

double CutPlan::step(const Sides<double>& slab, std::size_t axis) const {
  if (whole(slab[axis] / grain_[axis])) return 0;
  double volume = 1;
  for (std::size_t at = 0; at < walls_.axes(); ++at) volume *= std::max(1.0, slab[at]);
  double least = -1;
  for (std::size_t other = 0; other < walls_.axes(); ++other) {
    if (other == axis) continue;
    const double area = volume / std::max(1.0, slab[axis]) / std::max(1.0, slab[other]) * grain_[axis];
    const double bytes = area * walls_.face_bytes(other);
    if (least < 0 || bytes < least) least = bytes;
  }
  return std::max(0.0, least) * static_cast<double>(walls_.cells()) / volume;
}

void CutPlan::collect(double pieces, const Sides<double>& sides, const Cuts& cuts, double steps,
                      std::vector<Option>& options) const {
  const std::uint32_t fine = fineness(walls_.axes());
  for (std::size_t axis = 0; axis < walls_.axes(); ++axis) {
    const auto used = cuts.axis.begin() + static_cast<std::ptrdiff_t>(cuts.axes);
    if (std::find(cuts.axis.begin(), used, axis) != used || sides[axis] <= grain_[axis]) continue;
    Cuts more = cuts;
    more.axis[more.axes++] = static_cast<std::uint8_t>(axis);
    Sides<double> cut = sides;
    cut[axis] = sides[axis] / pieces;
    // Thinner than the grain, pieces would get in each other's way: only when nothing else is left.
    const double thin = std::max(1.0, grain_[axis] / cut[axis] / (1 + 1e-9));
    options.push_back({(walls_.crossing(cut) + steps + step(cut, axis)) * thin, more, cut});
    const double most = std::min(pieces / 2, sides[axis] / grain_[axis] + 1e-6);
    for (std::uint32_t slabs = 2; slabs <= most; slabs += std::max<std::uint32_t>(1, slabs / fine)) {
      more.slabs[more.axes - 1] = slabs;
      cut[axis] = sides[axis] / slabs;
      collect(pieces / slabs, cut, more, steps + step(cut, axis), options);
    }
  }
}

std::span<const CutPlan::Choice> CutPlan::choices(std::size_t level, double pieces, const Sides<double>& sides) {
  Key key{level, {}};
  key.second[max_axes] = std::llround(pieces * 64);
  for (std::size_t axis = 0; axis < walls_.axes(); ++axis) key.second[axis] = std::llround(sides[axis] * 64);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::vector<Option> options;
  collect(pieces, sides, {}, 0, options);
  const auto cheaper = [](const auto& a, const auto& b) { return a.cost < b.cost; };
  std::stable_sort(options.begin(), options.end(), cheaper);
  if (options.size() > beam) options.resize(beam);
  const double around = walls_.crossing(sides);
  std::vector<Choice> choices;
  for (const Option& option : options) {
    double cost = levels_[level].distance * (option.cost - around);
    if (level + 1 < levels_.size()) {
      const auto below = this->choices(level + 1, levels_[level + 1].arity, option.sides);
      // Below, walls are counted without the steps of those above.
      const double steps = option.cost - walls_.crossing(option.sides);
      if (!below.empty()) cost += below.front().cost - levels_[level + 1].distance * steps;
    }
    choices.push_back({cost, option.cuts});
  }
  std::stable_sort(choices.begin(), choices.end(), cheaper);
  return known_.emplace(key, std::move(choices)).first->second;
}

}  // namespace rankloom
