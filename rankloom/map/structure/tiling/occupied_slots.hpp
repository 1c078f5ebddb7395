// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: the slots that a grid of ranks occupies, and the levels of the machine above them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/tiling/boxes.hpp"

namespace rankloom {

/// The slots of the block placement, in the order of their cores. 4 bytes per rank.
class OccupiedSlots {
 public:
  using Part = MachineTree::Part;

  /// The problem must have at least two ranks.
  explicit OccupiedSlots(const MapProblem& problem);

  const MachineTree& tree() const { return tree_; }
  Core core(std::size_t slot) const { return cores_[slot]; }
  /// Top down, taken from the first part of each level; without levels of arity 1.
  std::span<const BoxLevel> levels() const { return levels_; }
  /// The number of occupied slots divided by those of the first object of the uppermost level.
  double top_objects() const;
  /// The number of levels, from the lowest up, that are uniform and full. Uniform: every occupied part has the same
  /// numbers of children on these levels as the first part. Full: every occupied part has as many occupied slots as the
  /// product of these numbers.
  std::size_t uniform_levels() const { return uniform_levels_; }

  /// O(1) if the slots are those of the first cores, otherwise O(log ranks).
  std::size_t first_slot(const Part& part) const;
  std::size_t slots_in(const Part& part) const { return first_slot({part.end, part.end, 0}) - first_slot(part); }
  std::vector<Part> used_children(const Part& part) const;

 private:
  /// Whether the lowest `count` levels are uniform and full (see uniform_levels).
  bool lowest_levels_are_uniform(std::size_t count) const;
  /// Whether every occupied part with at most `slots` occupied slots has exactly this many, in the levels from `level`
  /// on.
  bool all_parts_are_uniform(const Part& part, std::size_t slots, std::size_t level) const;
  bool is_uniform(const Part& part, std::size_t level, std::size_t slots) const;
  bool has_full_levels(const Part& part, std::size_t level) const;

  MachineTree tree_;
  std::vector<Core> cores_;  // by slot
  bool packed_ = false;      // slot s is core s
  std::vector<BoxLevel> levels_;
  std::vector<Part> first_part_;  // of each level: the part whose children are the first objects of the level
  std::size_t uniform_levels_ = 0;
};

}  // namespace rankloom
