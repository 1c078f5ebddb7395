// SPDX-License-Identifier: Apache-2.0
// allocate: searching a machine for closed sets of nodes. One search for each family of networks: boxes in meshes and
// tori, subtrees in trees and fat trees, growing from a seed elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "rankloom/allocate/state/node_occupancy.hpp"

namespace rankloom {

/// What is asked of a closed set besides being closed.
enum class Prefer : std::uint8_t {
  least_diameter,  ///< The least diameter that can be had now (but for the slack), then the packing that spoils least.
  fewest_nodes,    ///< The fewest nodes, whatever the diameter; no bound on either.
};

/// Of boxes in meshes and tori. In trees the lowest switch decides, and nothing beyond the nodes asked for is taken.
struct ClosedLimits {
  /// The share of nodes beyond those asked for that a box may have: 0.1 lets a job of 50 lie in a box of 55. Nodes that
  /// are left over serve jobs of a single node. Two more are always allowed.
  double waste = 0.1;
  /// How much wider than the least that can be had now a box may be if it packs better: 0.34 lets a diameter of 6 be 8,
  /// and leaves those below 3 as they are. 0: the least diameter, whatever it spoils.
  double slack = 0.34;
};

class ClosedSearch {
 public:
  virtual ~ClosedSearch() = default;

  /// A set of n free nodes whose messages pass nothing that is held, or none.
  virtual std::optional<Allotment> closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer prefer,
                                          const ClosedLimits& limits) const = 0;
  /// Zhang 2014, Figure 3: the first place of the template for n that meets no used node; all of it is kept.
  virtual std::optional<Allotment> closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const = 0;
  /// n free nodes of the least diameter, closed or not. There are enough.
  virtual Allotment nearest(const Occupancy& occupancy, std::uint32_t nodes) const = 0;
};

std::unique_ptr<ClosedSearch> make_box_search(const AllocationMachine& machine);
std::unique_ptr<ClosedSearch> make_subtree_search(const AllocationMachine& machine);
std::unique_ptr<ClosedSearch> make_growing_search(const AllocationMachine& machine);

}  // namespace rankloom
