// SPDX-License-Identifier: Apache-2.0
// place: a mapping in terms of the operating systems: the host and the processing units of each rank. Launchers' files
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
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Where one rank runs: some leaves of the machine, all on one node.
struct Binding {
  Node node{};
  Core core{};                       ///< In the mapping: one of the leaves.
  std::uint32_t begin = 0, end = 0;  ///< In Deployment::leaves.
  std::uint32_t first_gpu = 0;       ///< In Deployment::gpu_numbers.
};

/// What rankloom-bind does for a rank besides binding it.
struct RankSettings {
  enum class Memory : std::uint8_t {
    unchanged,   ///< As the launcher and the system do it.
    local,       ///< From the NUMA node of the processing unit that asks for it.
    interleave,  ///< From all NUMA nodes of the slot in turn.
  };
  Memory memory = Memory::unchanged;
  bool variables = true;      ///< Sets the variables of OpenMP and of the GPUs.
  std::uint32_t threads = 0;  ///< Of OpenMP; 0: as many as the slot has processing units.
  bool network_card = false;  ///< Restricts the rank to the nearest network card.
};

std::string_view name(RankSettings::Memory memory);

struct Deployment {
  Topology topology;
  IdVector<Node, std::string> hosts;
  SlotShapes shapes;           ///< What every rank occupies.
  RankSettings settings = {};  ///< Of every rank.
  IdVector<Rank, Binding> bindings;
  std::vector<Core> leaves;  ///< Of the slots in use, each in ascending order. Ranks may share a slot.
  std::vector<std::uint32_t> gpu_numbers = {};  ///< Of the slots in use.

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(bindings.size()); }
  IdRange<Rank> ranks() const { return IdRange<Rank>(bindings.size()); }
  const std::string& host(Rank rank) const { return hosts[bindings[rank].node]; }
  /// The leaves that the rank may use.
  std::span<const Core> slot(Rank rank) const {
    const Binding& binding = bindings[rank];
    return std::span(leaves).subspan(binding.begin, binding.end - binding.begin);
  }
  /// The numbers of the rank's GPUs on its node, in ascending order.
  std::span<const std::uint32_t> gpus(Rank rank) const {
    return std::span(gpu_numbers).subspan(bindings[rank].first_gpu, shapes.of(rank).gpus);
  }
  /// Whether ranks need settings besides their processing units: threads of OpenMP, GPUs, memory, network cards.
  bool sets_environment() const {
    const bool wide = shapes.any([](const SlotShape& shape) { return shape.cores > 1 || shape.gpus > 0; });
    return (settings.variables && wide) || settings.network_card || settings.memory != RankSettings::Memory::unchanged;
  }
  /// The name of the nearest network card of each rank; empty: its node has at most one. Ranks that are equally near to
  /// several cards share them evenly.
  IdVector<Rank, std::string_view> nearest_network_cards() const;
  /// The operating system's numbers of the processing units of the rank, in ascending order.
  std::vector<std::uint32_t> cpus(Rank rank) const;
  /// The positions of its leaves in the node, in the order of the topology: the logical indices of hwloc.
  std::vector<std::uint32_t> positions(Rank rank) const;
  /// The ranks on each node, in increasing order.
  IdVector<Node, std::vector<Rank>> ranks_of_nodes() const;
};

/// Finds the host and the processing units of each rank. `hosts` names the nodes in order and overrides the names of
/// the topology; empty: the names of the topology. A rank of the default shape gets all hardware threads of its core,
/// unless another rank is on another one of them. Fails when a core does not exist or does not begin a slot of the
/// rank's shape, when there are fewer names than nodes, or when a name cannot be written in a launcher's file.
Result<Deployment> deploy(std::span<const Core> core_of, const Topology& topology,
                          std::span<const std::string> hosts = {}, const SlotShapes& shapes = {});

/// Whether the topology names its nodes rather than only numbering them.
bool names_its_hosts(const Topology& topology);

/// Where one rank runs, as a launcher's file says.
struct NamedBinding {
  std::string host;
  std::vector<std::uint32_t> cpus = {};  ///< Empty: anywhere on the host.
};

/// The core of each rank: the first one of its processing units, in the order of the topology. Ranks without processing
/// units get the cores of their host in turn. The shapes have the number of cores of each rank. `source` is for
/// messages.
Result<MappingFile> mapping_of_bindings(std::span<const NamedBinding> bindings, const Topology& topology,
                                        std::span<const std::string> hosts, const std::string& source);

/// Completes a mapping that was read with the number of cores of each rank. If ranks differ, every one must have a row
/// of cores; `apart` is a rank that has not.
Result<void> check_widths(MappingFile& mapping, std::optional<std::size_t> apart, const std::string& source);

}  // namespace rankloom
