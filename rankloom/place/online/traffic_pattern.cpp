// SPDX-License-Identifier: Apache-2.0
// place/online: who talks with whom in a piece of time.
#include "rankloom/place/online/traffic_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {

TrafficPattern::TrafficPattern(const CommGraph& traffic) {
  for (const Rank from : traffic.ranks()) {
    const auto targets = traffic.targets(from);
    const auto bytes = traffic.bytes(from);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == from || bytes[i] <= 0) continue;
      const std::uint64_t low = std::min(index(from), index(targets[i])),
                          high = std::max(index(from), index(targets[i]));
      shares_.emplace_back(low << 32 | high, bytes[i]);
    }
  }
  std::sort(shares_.begin(), shares_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  double all = 0;
  for (const auto& [pair, bytes] : shares_) {
    all += bytes;
    if (kept > 0 && shares_[kept - 1].first == pair) {
      shares_[kept - 1].second += bytes;
    } else {
      shares_[kept++] = {pair, bytes};
    }
  }
  shares_.resize(kept);
  for (auto& share : shares_) share.second /= all;
}

double distance(const TrafficPattern& a, const TrafficPattern& b) {
  double sum = 0;
  auto left = a.shares_.begin(), right = b.shares_.begin();
  while (left != a.shares_.end() || right != b.shares_.end()) {
    if (right == b.shares_.end() || (left != a.shares_.end() && left->first < right->first)) {
      sum += (left++)->second;
    } else if (left == a.shares_.end() || right->first < left->first) {
      sum += (right++)->second;
    } else {
      sum += std::abs((left++)->second - (right++)->second);
    }
  }
  return sum / 2;
}

}  // namespace rankloom
