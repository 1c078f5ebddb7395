// SPDX-License-Identifier: Apache-2.0
// evaluate: repeated runs in a few numbers.
#include "rankloom/evaluate/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace rankloom {

Sample summarise(std::span<const double> values) {
  assert(!values.empty());
  const auto count = static_cast<double>(values.size());
  Sample sample{.mean = 0, .spread = 0, .least = values[0], .most = values[0]};
  for (const double value : values) {
    sample.mean += value / count;
    sample.least = std::min(sample.least, value);
    sample.most = std::max(sample.most, value);
  }
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  if (values.size() > 1) sample.spread = std::sqrt(squares / (count - 1));
  return sample;
}

}  // namespace rankloom
