// SPDX-License-Identifier: Apache-2.0
// model: how many ranks may share the memory of a node, package or NUMA node. With fewer ranks than slots, the
// placement of least communication puts all ranks close together, where they share the memory bandwidth of one NUMA
// node.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// The maximum numbers of ranks. 0: any number.
struct RankLimits {
  std::uint32_t per_node = 0, per_package = 0, per_numa = 0;
  bool any() const { return per_node > 0 || per_package > 0 || per_numa > 0; }
  bool operator==(const RankLimits&) const = default;
};

/// The largest numbers of ranks that this placement has on one node, package and NUMA node.
RankLimits limits_of(std::span<const Core> core_of, const Topology& topology);

/// The number of nodes with ranks.
std::uint32_t nodes_used(std::span<const Core> core_of, const Topology& topology);

/// The smallest numbers with which the ranks fit: all nodes, packages and NUMA nodes take part.
RankLimits even_limits(std::uint32_t ranks, const Topology& topology, const Capacities& capacities);

/// Keeps as many slots of every node, package and NUMA node as the limits say, spread over its parts; those in `keep`,
/// which must obey the limits, are among them. Fails (infeasible) if the ranks do not fit. O(cores).
Result<Capacities> limit_ranks(const Capacities& capacities, const Topology& topology, RankLimits limits,
                               std::uint32_t ranks, std::span<const Core> keep = {});

}  // namespace rankloom
