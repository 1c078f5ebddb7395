// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: slots of several shapes on one machine, for jobs whose programs differ in cores or GPUs per
// rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The slot of a rank is a row of cores of one node: it begins at the core of the rank in the mapping, and has as many
/// consecutive usable cores as the shape of the rank. So a mapping alone says which cores every rank has, and any two
/// ranks of the same shape can be exchanged.
class MixedSlots {
 public:
  /// O(cores). The topology must outlive the object; it is not a matrix.
  MixedSlots(const Topology& topology, SlotShapes shapes, std::uint32_t ranks);

  /// The leaves on which a slot can begin: the first usable one of each core.
  std::span<const Core> first_leaves() const { return firsts_; }
  /// The leaves of the rank's slot if it begins at this leaf; empty: it does not fit there.
  std::vector<Core> leaves(Rank rank, Core first) const;
  /// Fails if a slot does not fit at the core of its rank, if slots overlap, or if a node has too few GPUs. `source`
  /// names the mapping. O(ranks x cores of a rank).
  Result<void> check(std::span<const Core> core_of, const std::string& source) const;
  /// The GPUs of each rank of a valid mapping: of each slot, in the order of cores, the nearest ones that are left.
  IdVector<Rank, std::vector<std::uint32_t>> gpus(std::span<const Core> core_of) const;

  /// Valid mappings that differ in the ranks of every node. The first one fills the nodes with one shape after the
  /// other, as launchers do; another one gives every node its share of each shape. Slots are inside one cache, NUMA
  /// node or package where possible, those with GPUs near GPUs. Empty: the ranks do not fit. O(nodes x parts + cores x
  /// levels).
  std::vector<std::vector<Core>> layouts() const;

 private:
  static constexpr std::uint32_t no_unit = ~std::uint32_t{0};
  /// How many ranks of every part are on every node.
  using Shares = std::vector<IdVector<Node, std::uint32_t>>;
  class NodePacker;

  std::uint32_t ranks_of(std::size_t part) const;
  std::uint32_t cores_of(Node node) const { return node_begin_[index(node) + 1] - node_begin_[index(node)]; }
  /// The parts in this order, each onto the first nodes that have room; empty: not all ranks fit.
  Shares first_fit(std::span<const std::size_t> order) const;
  /// The same share of each part for every node; empty: it does not fit.
  Shares even_shares() const;
  std::vector<Core> place(const Shares& shares) const;
  std::span<const Topology::Device* const> gpus_of(Node node) const {
    return std::span(gpus_).subspan(gpu_begin_[index(node)], gpu_begin_[index(node) + 1] - gpu_begin_[index(node)]);
  }

  const Topology& topology_;
  SlotShapes shapes_;
  std::uint32_t ranks_;
  std::size_t core_level_;
  std::vector<Core> firsts_;                   // by unit: the first usable leaf of a core
  IdVector<Core, std::uint32_t> unit_of_;      // by leaf: the unit that begins there, or no_unit
  std::vector<std::uint32_t> node_begin_;      // by node: its first unit, with a final end
  std::vector<const Topology::Device*> gpus_;  // by node
  std::vector<std::uint32_t> gpu_begin_;       // by node, with a final end
};

}  // namespace rankloom
