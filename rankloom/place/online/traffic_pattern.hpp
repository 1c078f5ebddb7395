// SPDX-License-Identifier: Apache-2.0
// place/online: who talks with whom in a piece of time, whatever the amount: what tells phases of a program apart.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// A piece of time of a node's ranks. Loads are the seconds of CPU time outside MPI; none: they are not known.
struct OnlineWindow {
  double begin = 0, end = 0;  ///< Seconds.
  CommGraph traffic;
  double seconds() const { return end - begin; }
};

/// Both directions of a pair together, as a share of the whole. Empty: nobody said anything.
class TrafficPattern {
 public:
  TrafficPattern() = default;
  explicit TrafficPattern(const CommGraph& traffic);
  bool empty() const { return shares_.empty(); }
  /// 0: the same shares for the same pairs; 1: no pair in common. Half the sum of differences (total variation).
  friend double distance(const TrafficPattern& a, const TrafficPattern& b);

 private:
  std::vector<std::pair<std::uint64_t, double>> shares_;  // by pair, rising
};

double distance(const TrafficPattern& a, const TrafficPattern& b);

}  // namespace rankloom
