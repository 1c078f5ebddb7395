// SPDX-License-Identifier: Apache-2.0
// place: a mapping in terms of the operating systems: the host and the processing unit of each rank. Launchers' files
// are written from a deployment and read back into a mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Where one rank runs.
struct Binding {
  Node node{};
  std::uint32_t cpu = 0;           ///< The operating system's number of the processing unit.
  std::uint32_t core_in_node = 0;  ///< In the order of the topology: the logical index of hwloc.
};

struct Deployment {
  Topology topology;
  IdVector<Node, std::string> hosts;
  IdVector<Rank, Binding> bindings;

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(bindings.size()); }
  IdRange<Rank> ranks() const { return IdRange<Rank>(bindings.size()); }
  const std::string& host(Rank rank) const { return hosts[bindings[rank].node]; }
  /// The ranks on each node, in increasing order.
  IdVector<Node, std::vector<Rank>> ranks_of_nodes() const;
};

/// Finds the host and the processing unit of each core. `hosts` names the nodes in order and overrides the names of the
/// topology; empty: the names of the topology. Fails when a core does not exist, when there are fewer names than nodes,
/// or when a name cannot be written in a launcher's file.
Result<Deployment> deploy(std::span<const Core> core_of, const Topology& topology,
                          std::span<const std::string> hosts = {});

/// Whether the topology names its nodes rather than only numbering them.
bool names_its_hosts(const Topology& topology);

/// Where one rank runs, as a launcher's file says.
struct NamedBinding {
  std::string host;
  std::optional<std::uint32_t> cpu;  ///< Absent: anywhere on the host.
};

/// The core of each rank. Ranks without a processing unit get the cores of their host in turn. `source` is for
/// messages.
Result<std::vector<Core>> cores_of_bindings(std::span<const NamedBinding> bindings, const Topology& topology,
                                            std::span<const std::string> hosts, const std::string& source);

}  // namespace rankloom
