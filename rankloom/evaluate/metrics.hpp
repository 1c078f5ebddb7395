// SPDX-License-Identifier: Apache-2.0
// evaluate: what a mapping does to the traffic, beyond one number: bytes at each level, links, balance.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/cost/load_balance.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Traffic between ranks that part at one level.
struct LevelTraffic {
  std::string level;  ///< The level's kind; "core" also has a row "same core" when ranks share one.
  double bytes = 0;
  double messages = 0;
};

struct LinkLoad {
  Link link{};
  std::string from, to;  ///< Names of its ends.
  double bytes = 0;
};

struct Metrics {
  std::vector<std::pair<CostModel, double>> costs;  ///< Every model of the table.
  std::vector<LevelTraffic> levels;                 ///< Top down; last row "same core".
  double average_hops = 0;                          ///< Hop-bytes over bytes.
  std::vector<LinkLoad> hottest;                    ///< The most loaded links, heaviest first, at most ten.
  std::uint32_t nodes_used = 0;
  std::uint32_t cores_used = 0;
  std::uint32_t most_ranks_on_a_core = 0;
  double load_imbalance = 0;  ///< Heaviest core over the mean of the used capacity, minus 1.
  LoadBalance load;           ///< The same against what is possible.
};

/// O(edges x route).
Metrics measure(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);
/// The levels alone: O(edges).
std::vector<LevelTraffic> level_traffic(const CommGraph& graph, const Topology& topology,
                                        std::span<const Core> core_of);

}  // namespace rankloom
