// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: a grid on a machine as an assignment of digits to levels, and a search for a cheap one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rankloom/map/structure/embedding/machine_level.hpp"

namespace rankloom {

/// A digit of the coordinate on an axis.
struct LayoutDigit {
  std::uint32_t axis;
  std::uint32_t before;  ///< The product of the radices of the less significant digits of the axis.
  std::uint32_t radix;
  /// Where the digit is odd, the positions of all digits inside it run backwards: a strip of the level is mirrored, so
  /// that its end is next to the end of the strip before. The two strips of a ring are then close at both ends.
  bool reflects = false;
};

/// Every digit of every axis counts along one level of the machine. Unlike a fold, a level can have several digits of
/// one axis with those of other axes between them.
struct DigitLayout {
  std::vector<std::vector<LayoutDigit>> levels;  ///< The digits of each level, the one with the shortest steps first.
  std::vector<bool> gray;                        ///< By axis: whether its digits are a reflected Gray code.

  /// The value of the digit for a coordinate on its axis.
  std::uint32_t value(const LayoutDigit& digit, std::uint32_t coordinate) const {
    const std::uint32_t quotient = coordinate / digit.before;
    const std::uint32_t plain = quotient % digit.radix;
    return gray[digit.axis] && quotient / digit.radix % 2 != 0 ? digit.radix - 1 - plain : plain;
  }
  /// The position on the level of the cell with these coordinates.
  std::uint32_t position(std::size_t level, std::span<const std::uint32_t> coordinates) const {
    std::uint32_t result = 0, size = 1;
    for (const LayoutDigit& digit : levels[level]) {
      const std::uint32_t at = value(digit, coordinates[digit.axis]);
      if (digit.reflects && at % 2 != 0) result = size - 1 - result;
      result += at * size;
      size *= digit.radix;
    }
    return result;
  }
};

/// The prime factors in ascending order.
std::vector<std::uint32_t> prime_radices(std::uint32_t number);

/// Iterated local search: exchanges two digits, moves one to a level with free positions, mirrors strips, exchanges the
/// order of two radices of an axis, and turns Gray codes on and off, as long as the cost falls; then continues from
/// small random changes of the best layout, until several of them in a row gain nothing or `is_exhausted`.
/// Deterministic.
DigitLayout improve_layout(DigitLayout start, std::span<const MachineLevel> levels,
                           const std::function<double(const DigitLayout&)>& cost,
                           const std::function<bool()>& is_exhausted);

}  // namespace rankloom
