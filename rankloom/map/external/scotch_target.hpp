// SPDX-License-Identifier: Apache-2.0
// map/peers: a machine as one of Scotch's target architectures.
#pragma once

#include <memory>
#include <vector>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/external/scotch_library.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// Terminals are places: cores, seats of cores that hold several ranks, or nodes.
struct ScotchTarget {
  std::unique_ptr<ScotchArch> whole;  ///< What `arch` is a part of, if it is; Scotch refers to it.
  std::unique_ptr<ScotchArch> arch = std::make_unique<ScotchArch>();
  std::vector<std::uint32_t> place_of = {};  ///< By terminal: a core, or for nodes the position in the list given.
};

/// What a byte costs between two cores under the problem's model, messages spread over the bytes; 0 on one core.
class ScotchDistance {
 public:
  explicit ScotchDistance(const MapProblem& problem);
  double operator()(Core p, Core q) const;

 private:
  Distance distance_;
  double messages_per_byte_ = 0;
};

/// The cores of the part that may hold ranks. Where cost depends on the level alone, a tree (tleaf) of which they are
/// the leaves. Scotch takes the distance of two leaves to be the sum of the link values from the level where they part
/// down to the leaves, so a level's link value is its cost less the next lower level's. An uneven tree is a regular one
/// as wide as its widest objects, restricted to the leaves that exist; cores with different capacities get that many leaves.
/// Elsewhere, up to `max_table_size` cores, a decomposition of the table of all distances; beyond that the tree with the
/// mean cost of each level. `ranks`: as many places are enough, the first ones; for packing.
Result<ScotchTarget> scotch_cores(ScotchSession& session, const MapProblem& problem, const MachineTree& tree,
                                  const MachineTree::Part& part, std::uint64_t ranks);

/// The nodes of a routed network: a mesh or torus as such, another network as a decomposition of the table of the
/// routes' costs, or, beyond `max_table_size` nodes, of its wiring.
Result<ScotchTarget> scotch_nodes(ScotchSession& session, const MapProblem& problem,
                                  const std::vector<MachineTree::Part>& nodes);

inline constexpr std::size_t max_table_size = 512;

}  // namespace rankloom
