// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: which parts of a machine are alike, so that a search tries only one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Two objects of one level are alike when exchanging them, core by core, changes nothing that the cost can see. While
/// both are empty it is then enough to try the first: an empty node stands for all its empty brothers, an empty core
/// for the others of its node.
class Symmetry {
 public:
  /// same_core(p, q): two cores have equal capacities; same_pair(p, q, r, s): the cost sees the pair (p, q) as it sees (r,
  /// s). Objects of levels above `highest` are never taken as alike. O(levels x cores²) on regular machines.
  Symmetry(const Topology& topology, std::size_t highest, const std::function<bool(Core, Core)>& same_core,
           const std::function<bool(Core, Core, Core, Core)>& same_pair);

  /// No two objects are alike.
  bool trivial() const { return levels_.empty(); }
  /// Marks the cores to try, given how many ranks sit on each. Cores without room are for the caller to leave out.
  void representatives(const std::vector<std::uint32_t>& occupants, std::vector<bool>& is_representative) const;

 private:
  struct Level {
    std::vector<std::uint32_t> object_of;  // by core
    std::vector<std::uint32_t> class_of;   // by object
    std::uint32_t classes = 0;
  };
  std::vector<Level> levels_;  // only those with something alike
};

}  // namespace rankloom
