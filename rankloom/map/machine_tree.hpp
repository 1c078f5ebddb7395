// SPDX-License-Identifier: Apache-2.0
// map: the machine as mappers that go level by level see it: parts that hold parts, down to cores.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/mapping.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

/// A view of a topology as a tree without private levels: a part with one child is that child. Nodes on a routed
/// network are the children of the root, whatever their wiring; so are the cores of a table. Cores that hold no rank
/// still belong to their part. O(cores) memory where capacities differ.
class MachineTree {
 public:
  /// A consecutive range of cores.
  struct Part {
    std::uint32_t begin, end;  ///< Numbers of its cores.
    std::size_t next_level;    ///< The topology's level at which its children part; levels().size() for a core.
    std::uint32_t core_count() const { return end - begin; }
    bool is_core() const { return end - begin == 1; }
    bool operator==(const Part&) const = default;
  };

  /// Both must outlive it.
  MachineTree(const Topology& topology, const Capacities& capacities);

  Part root() const { return part(0, topology_->core_count(), 0); }
  /// At least two, unless the part is a core, which has none.
  std::vector<Part> children(const Part& part) const;
  /// How many ranks the part can hold.
  std::uint64_t places(const Part& part) const;
  /// Every part of a level has as many children as its neighbours, and every core the same number of places.
  bool symmetric() const { return symmetric(root()); }
  /// The same of one part and all below it.
  bool symmetric(const Part& part) const;
  /// The widths of a symmetric part top down: children of the part, children of a child, ...; a core has none.
  std::vector<std::uint32_t> arities(const Part& part) const;

  const Topology& topology() const { return *topology_; }

 private:
  /// Descends through levels that do not split the range.
  Part part(std::uint32_t begin, std::uint32_t end, std::size_t level) const;

  const Topology* topology_;
  const Capacities* slots_;
  std::vector<std::uint64_t> places_before_;  // by core, with an end; empty: the same everywhere
};

}  // namespace rankloom
