// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the price of a node. With fewer ranks than slots, more nodes have more network cards and memory buses,
// which others could use.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// A placement on k more nodes than necessary must be 1 + k x price times as fast as one on the fewest nodes. A price
/// of 0 changes nothing.
class NodePrice {
 public:
  /// `price`: as a share of the predicted time. The values of the problem must outlive the object.
  NodePrice(const MapProblem& problem, double price);

  bool any() const { return price_ > 0; }
  /// What the predicted time is multiplied by to compare placements: 1 + price x nodes beyond the fewest.
  double factor(std::span<const Core> core_of) const;
  /// The slots of the fewest nodes on which the ranks fit: the largest nodes, and of equal ones the first.
  Capacities fewest() const;
  /// The slots of the nodes that this placement uses; all slots if the price is 0.
  Capacities in_use(std::span<const Core> core_of) const;

 private:
  template <class Includes>
  Capacities of_nodes(const Includes& includes) const;

  MapProblem problem_;
  double price_;
  IdVector<Node, bool> fewest_;  // whether the node is one of the fewest; empty: the price is 0
  std::uint32_t fewest_count_ = 0;
};

}  // namespace rankloom
