// SPDX-License-Identifier: Apache-2.0
// map/structure: the places that a grid of ranks takes, and the levels of the machine above them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/boxes.hpp"

namespace rankloom {

/// Seats are the places of the default order, in the order of their cores. 4 bytes a rank.
class Occupancy {
 public:
  using Part = MachineTree::Part;

  /// At least two ranks.
  explicit Occupancy(const MapProblem& problem);

  const MachineTree& tree() const { return tree_; }
  Core seat(std::size_t at) const { return seats_[at]; }
  /// Top down, of the first part of each level; without those that leave no choice.
  std::span<const BoxLevel> levels() const { return levels_; }
  /// How many times the first object of the uppermost level fits into all that is used.
  double pieces() const;
  /// So many levels, from the lowest up, are the same all over the machine, and full.
  std::size_t even() const { return even_; }

  /// O(1) where the seats are the first cores, else O(log ranks).
  std::size_t first_seat(const Part& part) const;
  std::size_t seats_in(const Part& part) const { return first_seat({part.end, part.end, 0}) - first_seat(part); }
  std::vector<Part> used_children(const Part& part) const;

 private:
  /// Every part as large as the first one of this level, counted from below, is like it or empty.
  bool can_be_even(std::size_t count) const;
  /// All used parts with so many seats or fewer have the levels from `at` on, in full.
  bool all_like(const Part& part, std::size_t seats, std::size_t at) const;
  bool is_even(const Part& part, std::size_t at, std::size_t seats) const;
  bool symmetric(const Part& part, std::size_t at) const;

  MachineTree tree_;
  std::vector<Core> seats_;  // in order
  bool packed_ = false;      // seat s is core s
  std::vector<BoxLevel> levels_;
  std::vector<Part> part_on_;  // the first part of each level, whose children its objects are
  std::size_t even_ = 0;
};

}  // namespace rankloom
