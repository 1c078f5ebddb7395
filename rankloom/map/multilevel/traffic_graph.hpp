// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the weighted graph of a problem, with vertices in an order that suits the caches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// The traffic of the problem, both directions added up: bytes, and under the cost model `time` also messages, each
/// counted as the bytes that take as long between the two ends of the machine. `vertex_weights` has one entry per rank;
/// empty: all 1. Parallel; O(edges).
WeightedGraph weighted_graph(const MapProblem& problem, std::span<const std::uint32_t> vertex_weights = {});

/// The same graph in breadth-first order if that is better.
struct OrderedGraph {
  WeightedGraph graph;
  std::vector<std::uint32_t> order;  ///< The rank of each vertex; empty: vertex i is rank i.
};
OrderedGraph ordered_graph(const MapProblem& problem, std::span<const std::uint32_t> vertex_weights = {});

/// The vertices in breadth-first order, so that neighbours are close to each other in memory. Empty when the graph is
/// small or its own order is good enough.
std::vector<std::uint32_t> bfs_order(const WeightedGraph& graph);
/// The same graph in which vertex order[i] has the number i. Parallel.
WeightedGraph renumber(const WeightedGraph& graph, std::span<const std::uint32_t> order);

}  // namespace rankloom::multilevel
