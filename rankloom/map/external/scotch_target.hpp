// SPDX-License-Identifier: Apache-2.0
// map/external: a machine as a Scotch target architecture.
#pragma once

#include <memory>
#include <vector>

#include "rankloom/map/external/scotch_library.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// The terminals are cores, slots of cores with several slots, or nodes.
struct ScotchTarget {
  std::unique_ptr<ScotchArch> whole;  ///< The architecture that `arch` restricts, if it does; Scotch refers to it.
  std::unique_ptr<ScotchArch> arch = std::make_unique<ScotchArch>();
  std::vector<std::uint32_t> location_of = {};  ///< By terminal: a core, or for nodes the index in the given list.
};

/// The cost per byte between two cores under the problem's model, with messages in proportion to bytes; 0 on one core.
class ScotchDistance {
 public:
  explicit ScotchDistance(const MapProblem& problem);
  double operator()(Core p, Core q) const;

 private:
  Distance distance_;
  double messages_per_byte_ = 0;
};

/// The usable cores of the part. If the cost depends on the level alone, they are the leaves of a tree (Scotch's
/// tleaf). The distance of two leaves in Scotch is the sum of the link values from the level where they separate down
/// to the leaves, so the link value of a level is its cost minus that of the next lower level. An uneven tree is a
/// regular tree with the largest arity of each level, restricted to the existing leaves; if capacities differ, a core
/// has one leaf per slot. Otherwise, up to `max_table_size` cores, the target is a decomposition of the distance
/// matrix; beyond that it is the tree with the mean cost of each level. `ranks`: the first slots that suffice for this
/// many ranks are used.
Result<ScotchTarget> scotch_cores(ScotchSession& session, const MapProblem& problem, const MachineTree& tree,
                                  const MachineTree::Part& part, std::uint64_t ranks);

/// The nodes of a routed network: a Scotch mesh or torus; for other networks a decomposition of the matrix of the
/// routes' costs or, beyond `max_table_size` nodes, of the network's graph.
Result<ScotchTarget> scotch_nodes(ScotchSession& session, const MapProblem& problem,
                                  const std::vector<MachineTree::Part>& nodes);

inline constexpr std::size_t max_table_size = 512;

}  // namespace rankloom
