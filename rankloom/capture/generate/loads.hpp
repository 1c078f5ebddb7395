// SPDX-License-Identifier: Apache-2.0
// capture/generate: how much work each rank of a pattern has.
#pragma once

#include <cstdint>
#include <vector>

namespace rankloom {

enum class LoadPattern : std::uint8_t {
  equal,    ///< None is written down: all ranks count the same.
  zipf,     ///< The k-th heaviest rank has 1/k of the heaviest's 10,000, at least 1.
  heavy,    ///< One rank has as much as a tenth of all others together, at least 10; they have 1 each.
  bimodal,  ///< Every tenth rank has 10, the others 1.
  random,   ///< Whole numbers from 1 to 100.
};

/// Whole numbers, in an order drawn by the seed; empty for equal ones.
std::vector<double> make_loads(LoadPattern pattern, std::uint32_t ranks, std::uint64_t seed);

}  // namespace rankloom
