// SPDX-License-Identifier: Apache-2.0
// core: a segment tree of maxima. Mappers ask it for the nearest node or core with enough free capacity.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace rankloom {

/// The values of positions 0..count-1, and the maxima of their ranges in a complete binary tree. Every operation takes
/// O(log count).
template <class Value>
class MaxSegmentTree {
 public:
  /// Smaller than or equal to every value; positions begin with it.
  static constexpr Value none = std::numeric_limits<Value>::has_infinity ? -std::numeric_limits<Value>::infinity()
                                                                         : std::numeric_limits<Value>::lowest();

  explicit MaxSegmentTree(std::size_t count)
      : leaves_(std::bit_ceil(std::max<std::size_t>(1, count))), maximum_(2 * leaves_, none) {}

  Value operator[](std::size_t position) const { return maximum_[leaves_ + position]; }
  void set(std::size_t position, Value value) {
    std::size_t at = leaves_ + position;
    maximum_[at] = value;
    for (at /= 2; at > 0; at /= 2) maximum_[at] = std::max(maximum_[2 * at], maximum_[2 * at + 1]);
  }

  /// The first position from `position` on whose value is at least `min`.
  std::optional<std::uint32_t> first_at_or_after(std::size_t position, Value min) const {
    for (std::size_t at = leaves_ + position;; ++at) {
      if (maximum_[at] >= min) return descend(at, min, 0);
      while (at % 2 == 1) at /= 2;  // up to a left child, whose right sibling is next
      if (at == 0) return std::nullopt;
    }
  }
  /// The last position up to `position` whose value is at least `min`.
  std::optional<std::uint32_t> last_at_or_before(std::size_t position, Value min) const {
    for (std::size_t at = leaves_ + position;; --at) {
      if (maximum_[at] >= min) return descend(at, min, 1);
      while (at % 2 == 0) at /= 2;  // up to a right child, whose left sibling is next
      if (at == 1) return std::nullopt;
    }
  }

 private:
  /// From an inner node to a leaf; `preferred` is 0 for the left child, 1 for the right one.
  std::uint32_t descend(std::size_t at, Value min, std::size_t preferred) const {
    while (at < leaves_) {
      at = 2 * at + preferred;
      if (maximum_[at] < min) at ^= 1;
    }
    return static_cast<std::uint32_t>(at - leaves_);
  }

  std::size_t leaves_;
  std::vector<Value> maximum_;  // the root is 1, the children of i are 2i and 2i + 1, the leaves are the last half
};

}  // namespace rankloom
