// SPDX-License-Identifier: Apache-2.0
// capture/generate: how much work each rank of a pattern has.
#include "rankloom/capture/generate/loads.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "rankloom/core/random.hpp"

namespace rankloom {

std::vector<double> make_loads(LoadPattern pattern, std::uint32_t ranks, std::uint64_t seed) {
  if (pattern == LoadPattern::equal) return {};
  constexpr std::uint64_t stream = 0x10ad;  // apart from what the pattern itself and the renaming draw
  Random random(seed, stream);
  std::vector<double> loads(ranks, 1.0);
  for (std::uint32_t at = 0; at < ranks; ++at) {
    switch (pattern) {
      case LoadPattern::zipf:
        loads[at] = std::max(1.0, std::round(10'000.0 / (at + 1.0)));
        break;
      case LoadPattern::bimodal:
        loads[at] = at % 10 == 0 ? 10 : 1;
        break;
      case LoadPattern::random:
        loads[at] = 1.0 + static_cast<double>(random.below(100));
        break;
      case LoadPattern::heavy:
      case LoadPattern::equal:
        break;
    }
  }
  if (pattern == LoadPattern::heavy && ranks > 0) loads[0] = std::max(10.0, std::floor(ranks / 10.0));
  random.shuffle(std::span(loads));
  return loads;
}

}  // namespace rankloom
