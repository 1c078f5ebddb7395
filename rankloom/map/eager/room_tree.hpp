// SPDX-License-Identifier: Apache-2.0
// map/eager: how much more load each of many bins can take, and which bin near a given one can take enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace rankloom {

/// A complete binary tree of maxima over the rooms of bins 0..count-1. Everything in O(log count).
class RoomTree {
 public:
  static constexpr double none = -std::numeric_limits<double>::infinity();

  explicit RoomTree(std::size_t count)
      : leaves_(std::bit_ceil(std::max<std::size_t>(1, count))), most_(2 * leaves_, none) {}

  double operator[](std::uint32_t bin) const { return most_[leaves_ + bin]; }
  void set(std::uint32_t bin, double room) {
    std::size_t at = leaves_ + bin;
    most_[at] = room;
    for (at /= 2; at > 0; at /= 2) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }

  /// The first bin from `bin` on with at least so much room.
  std::optional<std::uint32_t> at_or_after(std::uint32_t bin, double need) const {
    for (std::size_t at = leaves_ + bin;; ++at) {
      if (most_[at] >= need) return down(at, need, 0);
      while (at % 2 == 1) at /= 2;  // up to a left child, whose right sibling is next
      if (at == 0) return std::nullopt;
    }
  }
  /// The last bin up to `bin` with at least so much room.
  std::optional<std::uint32_t> at_or_before(std::uint32_t bin, double need) const {
    for (std::size_t at = leaves_ + bin;; --at) {
      if (most_[at] >= need) return down(at, need, 1);
      while (at % 2 == 0) at /= 2;  // up to a right child, whose left sibling is next
      if (at == 1) return std::nullopt;
    }
  }

 private:
  std::uint32_t down(std::size_t at, double need, std::size_t side) const {
    while (at < leaves_) {
      at = 2 * at + side;
      if (most_[at] < need) at ^= 1;
    }
    return static_cast<std::uint32_t>(at - leaves_);
  }

  std::size_t leaves_;
  std::vector<double> most_;
};

}  // namespace rankloom
