// SPDX-License-Identifier: Apache-2.0
// place/joint: sets of nodes up to the symmetries of the network, so that what is computed for one box holds for every
// box of its shape.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

struct NodeSet {
  /// Sets with equal keys have the same distances between their nodes, in the order of `nodes`.
  std::string key;
  std::vector<Node> nodes;  ///< In an order that does not depend on the position of the set.
  /// In a mesh or torus: the bounding box, the largest extent first; empty in other networks.
  std::vector<std::uint32_t> extents = {};
  /// In a mesh or torus: the position of each node in the bounding box, in row-major order.
  std::vector<std::uint32_t> positions = {};
};

/// In a mesh or torus, sets that differ by a translation or an exchange of dimensions have the same key; in a tree or
/// fat tree, those that have the same numbers of nodes below their switches. Elsewhere every set has its own key.
NodeSet canonical_node_set(const Network& network, std::span<const Node> nodes);

/// The nodes of a box so that those of each half are close to each other, those of each half of a half again, and so
/// on: it is bisected across its longest side. The set has extents.
std::vector<Node> bisection_order(const NodeSet& set);
/// The nodes of a box row by row, in alternating directions: consecutive nodes are neighbours. The set has extents.
std::vector<Node> snake_order(const NodeSet& set);

}  // namespace rankloom
