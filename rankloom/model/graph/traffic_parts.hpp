// SPDX-License-Identifier: Apache-2.0
// model/graph: what the sum of all pairs does not say about the traffic of a program: its phases, and collectives whose
// messages depend on which ranks share a node. The cost model `predicted` uses both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Calls on communicators of all ranks for which the MPI library uses two levels: inside the nodes, and between one
/// leader per node. Which pairs they use follows from the placement; how much traffic there is, only from the number of
/// nodes. So they are left out of the pairs that mappers see.
struct NodeCollectives {
  CollectiveModel model = CollectiveModel::none;
  std::vector<Communicator> communicators;
  std::vector<Collective> calls;
};

struct TrafficParts {
  std::vector<CommGraph> phases;  ///< Whose sum is the graph, with parts of their own; empty: one phase.
  NodeCollectives node_collectives;
  /// Rounds of the run, estimated from the point-to-point messages alone; 0: estimate_rounds() of the graph.
  double rounds = 0;
};

/// The pairs of all collectives with one level, and of the point-to-point messages. The model is not `automatic`.
CommGraph expand_collectives(Profile profile, CollectiveModel model);

/// The same profile with calls inside the nodes and between their leaders instead of the calls with two levels. The
/// leader of a node is its first member, or the root. Nothing changes if all ranks are on one node.
Profile split_by_nodes(Profile profile, CollectiveModel model, std::span<const std::uint32_t> node_of);

/// The pairs of the node collectives of a graph for a placement; without edges if it has none.
CommGraph node_traffic(const CommGraph& graph, std::span<const std::uint32_t> node_of);

/// Whether the profile has calls with two levels on communicators of all ranks.
bool has_node_collectives(const Profile& profile, CollectiveModel model);
/// Removes these calls from the profile.
NodeCollectives take_node_collectives(Profile& profile, CollectiveModel model);

}  // namespace rankloom
