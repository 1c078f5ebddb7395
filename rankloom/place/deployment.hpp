// SPDX-License-Identifier: Apache-2.0
// place: a mapping in the words of operating systems: which host, which processing unit. Between the mapping and every
// launcher's files, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

/// Where one rank sits.
struct Seat {
  Node node{};
  std::uint32_t cpu = 0;           ///< The operating system's number of the processing unit.
  std::uint32_t core_in_node = 0;  ///< Counted in the order of the topology, as hwloc counts logically.
};

struct Deployment {
  Topology topology;
  IdVector<Node, std::string> hosts;
  IdVector<Rank, Seat> seats;

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(seats.size()); }
  IdRange<Rank> ranks() const { return IdRange<Rank>(seats.size()); }
  const std::string& host(Rank rank) const { return hosts[seats[rank].node]; }
  /// Ranks on each node, in order of their numbers.
  IdVector<Node, std::vector<Rank>> ranks_of_nodes() const;
};

/// What the operating systems of the nodes know these cores by. `hosts` names the nodes in order, when the topology
/// does not or names them otherwise; empty: as the topology does. Fails when a core does not exist, the names are too
/// few or cannot be written in a launcher's file.
Result<Deployment> deploy(std::span<const Core> core_of, const Topology& topology,
                          std::span<const std::string> hosts = {});

/// The topology itself says what its nodes are called, rather than numbering them.
bool names_its_hosts(const Topology& topology);

/// Letters, digits, "-", "_" and ".", not beginning with "-": what every launcher reads back as it was written.
bool is_plain_host_name(std::string_view name);

/// What a launcher's file says of one rank.
struct NamedSeat {
  std::string host;
  std::optional<std::uint32_t> cpu;  ///< None: anywhere on the host.
};

/// Back to a mapping: ranks without a processing unit take those of their host in turn. `source` is for messages.
Result<std::vector<Core>> cores_of_seats(std::span<const NamedSeat> seats, const Topology& topology,
                                         std::span<const std::string> hosts, const std::string& source);

}  // namespace rankloom
