// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: cuts the cores of a machine into slots of one shape.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

class SlotCutter {
 public:
  /// The topology must outlive the object; it is not a matrix.
  SlotCutter(const Topology& topology, SlotShape shape);

  /// How many cores are usable.
  std::size_t core_count() const { return units_.size(); }
  /// The usable cores of every object of the level that has some.
  std::vector<std::size_t> sizes(std::size_t level) const;
  /// Slots for at least this many ranks if the machine has them, without GPUs. Slots across two caches, NUMA nodes or
  /// packages that are as large as a slot are made only as far as the others do not suffice.
  Slots cut(std::uint32_t ranks);

 private:
  /// A core of the machine with at least one usable leaf.
  struct Unit {
    Core first{};
    std::uint32_t size = 0;  // all its leaves, usable or not
  };
  /// An object of a level: its range of units.
  struct Part {
    std::size_t begin, end;
  };

  std::size_t slot_count() const { return slots_.size() / shape_.cores; }
  std::vector<Part> parts_of(std::size_t level) const;
  /// Makes slots inside each object of the level, of the cores of parts that are smaller than a slot.
  void cut_level(std::size_t level);
  /// How many free cores to leave out so that the slot that would begin at `at` begins with a part of the object
  /// instead, and has cores of fewer parts. At most `spare`.
  std::size_t skipped(std::size_t part_level, std::span<const std::uint32_t> free, std::size_t at,
                      std::size_t spare) const;
  /// Makes slots of any free cores inside the objects of the level, first where packages, NUMA nodes, ... have the
  /// fewest, until there are enough.
  void add_slots(std::size_t level, std::uint32_t enough);
  void append_free(Part part, std::vector<std::uint32_t>& free) const;
  void take(std::span<const std::uint32_t> units);

  const Topology& topology_;
  SlotShape shape_;
  std::size_t core_level_;
  std::vector<Unit> units_;
  std::vector<bool> taken_;           // by unit
  std::vector<std::uint32_t> slots_;  // the units of one slot after the other
};

}  // namespace rankloom
