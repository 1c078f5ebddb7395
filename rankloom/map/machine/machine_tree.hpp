// SPDX-License-Identifier: Apache-2.0
// map/machine: the machine as a tree of parts, for mappers that work level by level.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// A view of a topology as a tree without levels of one child: a part with a single child is replaced by that child.
/// The nodes of a routed network are children of the root, for any shape of the network; so are the cores of a distance
/// table. Cores with capacity 0 still belong to their part. O(cores) memory if capacities differ.
class MachineTree {
 public:
  /// An object of the machine: a consecutive range of cores.
  struct Part {
    std::uint32_t begin, end;  ///< Numbers of its cores.
    std::size_t
        next_level;  ///< The level of the topology at which it splits into its children; levels().size() for a core.
    std::uint32_t core_count() const { return end - begin; }
    bool is_core() const { return end - begin == 1; }
    bool operator==(const Part&) const = default;
  };

  /// Both must outlive the tree.
  MachineTree(const Topology& topology, const Capacities& capacities);

  Part root() const { return part(0, topology_->core_count(), 0); }
  /// At least two children, unless the part is a core, which has none.
  std::vector<Part> children(const Part& part) const;
  /// The number of ranks that fit on the part.
  std::uint64_t slots(const Part& part) const;
  /// Whether all parts of a level have the same number of children, and all cores the same capacity.
  bool symmetric() const { return symmetric(root()); }
  /// The same for one part and all parts below it.
  bool symmetric(const Part& part) const;
  /// The numbers of children in a symmetric part, top down: of the part, of its children, and so on; empty for a core.
  std::vector<std::uint32_t> arities(const Part& part) const;

  const Topology& topology() const { return *topology_; }

 private:
  /// Skips levels that do not split the range.
  Part part(std::uint32_t begin, std::uint32_t end, std::size_t level) const;

  const Topology* topology_;
  const Capacities* capacities_;
  std::vector<std::uint64_t>
      slots_before_;  // slots of all cores before each core, and of all; empty: all cores have the same capacity
};

}  // namespace rankloom
