// SPDX-License-Identifier: Apache-2.0
// evaluate: repeated runs in a few numbers.
#pragma once

#include <span>

namespace rankloom {

struct Sample {
  double mean = 0;
  double spread = 0;  ///< Standard deviation with n-1 in the denominator; 0 for a single value.
  double least = 0;
  double most = 0;
};

/// Of at least one value.
Sample summarise(std::span<const double> values);

}  // namespace rankloom
