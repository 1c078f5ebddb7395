// SPDX-License-Identifier: Apache-2.0
// evaluate: metrics of a mapping: costs, traffic per level, most loaded links, load balance.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Traffic between ranks whose cores diverge at one level.
struct LevelTraffic {
  std::string level;  ///< The kind of the level, or "same core".
  double bytes = 0;
  double messages = 0;
};

struct LinkLoad {
  Link link{};
  std::string from, to;  ///< Names of its endpoints.
  double bytes = 0;
};

struct Metrics {
  std::vector<std::pair<CostModel, double>> costs;  ///< One entry per cost model that is not a time.
  std::vector<LevelTraffic> levels;                 ///< Top down; the last entry is "same core".
  double average_hops = 0;                          ///< Hop-bytes divided by bytes.
  std::vector<LinkLoad> heaviest_links;             ///< In descending order, at most ten.
  std::uint32_t nodes_used = 0;
  std::uint32_t cores_used = 0;
  std::uint32_t max_ranks_per_core = 0;
  double load_imbalance = 0;  ///< Load of the heaviest core divided by the average, minus 1.
  LoadBalance load;           ///< Compared with a lower bound.
};

/// O(edges x route length).
Metrics measure(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);
/// Only the traffic per level: O(edges).
std::vector<LevelTraffic> level_traffic(const CommGraph& graph, const Topology& topology,
                                        std::span<const Core> core_of);

}  // namespace rankloom
