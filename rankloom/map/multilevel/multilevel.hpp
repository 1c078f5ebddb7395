// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the main construction of the mapper `auto`: multilevel multisection along the machine hierarchy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/multilevel/multisection.hpp"
#include "rankloom/map/multilevel/traffic_graph.hpp"

namespace rankloom::multilevel {

struct Options {
  MultisectionOptions multisection;
  std::uint32_t mapping_fm_passes = 2;  ///< Passes of k-way FM on the exact cost at the end, if cores have free slots.
};

/// The traffic as a weighted graph, with vertices renumbered for the caches.
class VertexGraph {
 public:
  /// `rank_weights`: the vertex weight of each rank; empty: all 1.
  explicit VertexGraph(const MapProblem& problem, std::span<const std::uint32_t> rank_weights = {});

  const WeightedGraph& graph() const { return ordered_.graph; }
  /// Placements by vertex as placements by rank, and back.
  std::vector<Core> by_rank(std::span<const Core> by_vertex) const;
  Array<Core> by_vertex(std::span<const Core> by_rank) const;

 private:
  OrderedGraph ordered_;
};

/// Refines a placement by k-way FM on the exact distances. Does nothing unless cores are shared and some have free
/// slots. Never increases the cost.
std::vector<Core> refine_placement(const MapProblem& problem, const VertexGraph& vertices,
                                   std::span<const Core> core_of, std::uint32_t passes);

/// Multisection, then exchanges of whole parts (if there is at most one rank per core), then k-way FM on cores (if
/// cores are shared and some have free slots); repairs a placement that exceeds capacities. When the deadline passes,
/// the remaining ranks are placed in order. O(edges x levels of the machine) time; 8 bytes per directed edge, and as
/// much again for coarser graphs. Runs in parallel; the result does not depend on the number of threads.
std::vector<Core> multilevel_placement(const MapProblem& problem, const VertexGraph& vertices, const Options& options,
                                       std::uint64_t seed);

}  // namespace rankloom::multilevel
