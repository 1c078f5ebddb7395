// SPDX-License-Identifier: Apache-2.0
// map/structure: along which axes to cut a box whose parts do not divide its sides.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/map/structure/boxes.hpp"

namespace rankloom {

/// First into slabs across one axis, each slab across the next axis, and so on; across the last one into single pieces.
struct Cuts {
  std::array<std::uint8_t, max_axes> axis{};
  std::array<std::uint32_t, max_axes> slabs{};  ///< Not of the last axis.
  std::size_t axes = 0;                         ///< How many are cut.
};

/// Searches over the axes and the numbers of slabs, on costs that are estimated as if slabs were all alike and cuts
/// went straight but for one step. Keeps what it found.
class CutPlan {
 public:
  /// Levels top down, as far as they are to be cut; `grain`: the box that is not cut any more.
  CutPlan(const Walls& walls, std::span<const BoxLevel> levels, const Box& grain)
      : walls_(walls), levels_(levels.begin(), levels.end()), grain_(grain) {}

  std::size_t level_count() const { return levels_.size(); }

  struct Choice {
    double cost = 0;  ///< Of this level and all below, over the whole grid.
    Cuts cuts;
  };
  /// Ways to cut a box of these sides into so many pieces for the objects of a level, the cheapest first; at least one
  /// where the box is larger than the grain. The number of pieces may be broken, when the last is smaller than others.
  std::span<const Choice> choices(std::size_t level, double pieces, const Sides<double>& sides);

 private:
  using Key = std::pair<std::size_t, std::array<std::int64_t, max_axes + 1>>;
  struct Option {
    double cost;
    Cuts cuts;
    Sides<double> sides;
  };
  void collect(double pieces, const Sides<double>& sides, const Cuts& cuts, double steps,
               std::vector<Option>& options) const;
  /// What crosses the steps in the walls between slabs of this size, in all of the grid: none when the wall lies
  /// between grains; else one as high as a grain, where that costs least.
  double step(const Sides<double>& slab, std::size_t axis) const;

  const Walls& walls_;
  std::vector<BoxLevel> levels_;
  Box grain_;
  std::map<Key, std::vector<Choice>> known_;
};

}  // namespace rankloom
