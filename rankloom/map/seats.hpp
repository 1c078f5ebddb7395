// SPDX-License-Identifier: Apache-2.0
// map: all capacities of all cores in one numbering, so that random choices can be uniform over them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// Seat s belongs to a core and is that core's slot number `slot`. O(cores) memory, or none when every core has one.
class Seats {
 public:
  struct Seat {
    Core core;
    std::uint32_t slot;
  };

  Seats(const Topology& topology, const Capacities& capacities) : total_(capacities.total()) {
    if (capacities.one_each()) return;
    first_seat_.reserve(topology.core_count());
    std::uint64_t seats = 0;
    for (const Core core : topology.cores()) {
      first_seat_.push_back(seats);
      seats += capacities[core];
    }
  }

  std::uint64_t total() const { return total_; }
  /// O(log cores), O(1) when every core has one slot.
  Seat operator[](std::uint64_t seat) const {
    if (first_seat_.empty()) return {Core{static_cast<std::uint32_t>(seat)}, 0};
    const auto after = std::upper_bound(first_seat_.begin(), first_seat_.end(), seat);
    const auto core = static_cast<std::uint32_t>(after - first_seat_.begin() - 1);
    return {Core{core}, static_cast<std::uint32_t>(seat - first_seat_[core])};
  }

 private:
  std::vector<std::uint64_t> first_seat_;
  std::uint64_t total_;
};

}  // namespace rankloom
