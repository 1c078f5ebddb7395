// SPDX-License-Identifier: Apache-2.0
// map/multilevel/network: partitions for the nodes of a network, which are not at equal distance from each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/multilevel/kway_partition.hpp"
#include "rankloom/map/multilevel/network/block_distances.hpp"

namespace rankloom::multilevel {

/// The halves of a network, their halves, and so on, down to single blocks.
struct NetworkHalves {
  struct Half {
    std::uint32_t begin, end;       ///< Positions in `blocks`.
    std::uint32_t left, right = 0;  ///< Its own halves, as indices of `halves`; 0: a single block.
    bool is_block() const { return end - begin == 1; }
  };
  std::vector<MachineTree::Part> blocks;  ///< Reordered, so that every half is consecutive.
  std::vector<Half> halves;               ///< The first is the whole network.

  NetworkHalves(const Topology& topology, std::vector<MachineTree::Part> parts);
};

/// A partition whose cost is edge weight x distance between blocks. Multilevel: the coarsest graph is divided by dual
/// recursive bisection (Pellegrini 1994), and the result refined by k-way FM under the true distances on every level.
/// Dual recursive bisection cuts graph and network together: first the whole graph for the halves of the network, then
/// the vertices of each half for its halves, and so on, one level after another; neighbours outside of a half pull a
/// vertex to the side that is closer to the part of the network where they are. No block exceeds its maximum weight
/// under the conditions of partition_kway(). `cut` is the cost. Deterministic.
KWayPartition partition_network(const WeightedGraph& graph, const NetworkHalves& network,
                                const BlockDistances& distances, std::span<const std::uint64_t> max_block_weight,
                                const PartitionOptions& options, std::uint64_t seed);

}  // namespace rankloom::multilevel
