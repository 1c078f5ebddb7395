// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the general construction of the flagship: the program cut along the machine by multilevel methods.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/multilevel/multisection.hpp"

namespace rankloom::multilevel {

/// What more time buys.
struct Effort {
  MultisectionEffort cutting;
  std::uint32_t passes = 2;  ///< Of moves on the true cost at the end, where cores have room.
};

/// The traffic as the multilevel methods want it, in an order that suits the caches.
class Program {
 public:
  /// `sizes`: how much room each rank takes; empty: one place each.
  explicit Program(const MapProblem& problem, std::span<const std::uint32_t> sizes = {});

  const WeightedGraph& graph() const { return graph_; }
  /// From the order of the vertices to that of the ranks, and back.
  std::vector<Core> by_rank(std::vector<Core> by_vertex) const;
  std::vector<Core> by_vertex(std::vector<Core> by_rank) const;

 private:
  WeightedGraph graph_;
  std::vector<std::uint32_t> order_;  // empty: the ranks' own
};

/// The placement after moves on the true distances, where cores are shared and have room; else as it was. Never dearer.
std::vector<Core> moved(const MapProblem& problem, const Program& program, std::vector<Core> core_of,
                        std::uint32_t passes);

/// A placement, valid where ranks take one place each: multisection along the machine, then moves on the true
/// distances; when the deadline of the effort passes, what is left to decide goes in order. O(edges x levels of the
/// machine); 8 bytes a directed edge, and as much again for coarser graphs. Parallel; the same for any number of
/// threads.
std::vector<Core> placement(const MapProblem& problem, const Program& program, const Effort& effort,
                            std::uint64_t seed);

}  // namespace rankloom::multilevel
