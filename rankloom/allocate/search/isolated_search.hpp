// SPDX-License-Identifier: Apache-2.0
// allocate/search: searches a machine for isolated sets of nodes: sets whose messages use no router or link that
// another job uses. One search per family of networks: boxes in meshes and tori, subtrees in trees and fat trees,
// greedy growing from a seed node elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/allocate/state/node_occupancy.hpp"

namespace rankloom {

/// Which of several isolated sets is preferred.
enum class Objective : std::uint8_t {
  min_diameter,  ///< The smallest diameter that is available now (within the slack), then the tightest packing.
  min_nodes,     ///< The fewest nodes, with no bound on the diameter.
};

/// Limits for boxes in meshes and tori. In trees the lowest switch with enough free nodes decides, and a job never gets
/// more nodes than it requests.
struct IsolationLimits {
  /// How many nodes a box may have beyond the requested ones, as a fraction: with 0.1 a job of 50 nodes may get a box
  /// with 55. The remaining nodes are available to one-node jobs. Two additional nodes are always allowed.
  double waste = 0.1;
  /// How much larger than the smallest available diameter the diameter of a better packed box may be, as a fraction:
  /// with 0.34 a diameter of 6 may become 8, and diameters below 3 stay. With 0 the smallest diameter always wins.
  double slack = 0.34;
};

/// One of several isolated sets that a job may get.
struct Candidate {
  Allocation allocation;
  std::string shape;  ///< "box 2x8", "2 switches with 8+8 nodes"
  /// What the set takes from other jobs, in nodes: the nodes of the job, those that it encloses, and something for the
  /// free nodes next to it, because they become harder to use. A box earns something back for neighbours that are in
  /// use and for edges of the machine: it leaves large free regions whole.
  double packing_cost = 0;
};

class IsolatedSearch {
 public:
  virtual ~IsolatedSearch() = default;

  /// A set of n free nodes whose messages use no router or link that is in use; nothing if there is none.
  virtual std::optional<Allocation> find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective objective,
                                                  const IsolationLimits& limits) const = 0;
  /// Whether there is such a set, of any shape; faster than finding the best one.
  virtual bool has_isolated(const Occupancy& occupancy, std::uint32_t nodes) const {
    return find_isolated(occupancy, nodes, Objective::min_nodes, {}).has_value();
  }
  /// Isolated sets of different shapes, each at its best position, at most `max` of them; the smallest diameter first.
  /// There is at least one if find_isolated() with these limits finds one.
  virtual std::vector<Candidate> find_candidates(const Occupancy& occupancy, std::uint32_t nodes,
                                                 const IsolationLimits& limits, std::size_t max) const = 0;
  /// Zhang 2014, Figure 3: the first position of the template for n nodes that contains no used node. The nodes of the
  /// template beyond n are reserved for the job.
  virtual std::optional<Allocation> find_template(const Occupancy& occupancy, std::uint32_t nodes) const = 0;
  /// n free nodes of the smallest diameter, isolated or not. At least n nodes must be free.
  virtual Allocation find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const = 0;
};

std::unique_ptr<IsolatedSearch> make_box_search(const AllocationMachine& machine);
std::unique_ptr<IsolatedSearch> make_subtree_search(const AllocationMachine& machine);
std::unique_ptr<IsolatedSearch> make_greedy_search(const AllocationMachine& machine);

}  // namespace rankloom
