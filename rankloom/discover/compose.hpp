// SPDX-License-Identifier: Apache-2.0
// discover: composes one machine from several sources: the network from one, the inside of the nodes from others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// The inside of some nodes.
struct NodeInterior {
  /// Empty: the node with the name in `machine`; the first such interior is also used for all nodes without an
  /// interior.
  std::vector<std::string> hosts = {};
  MachineSpec machine = {};  ///< One node.
};

/// Hosts of one core each below one switch.
MachineSpec flat_network(const std::vector<std::string>& hosts);

/// The network with these interiors in its nodes. `keep` names the nodes that remain (empty: all). Names with and
/// without a domain match. If the cheapest path of the network costs less than the most expensive one inside a node,
/// the costs of the network are scaled up, because sources without measurements must not make the network look faster
/// than a node. Fails if a host is not in the network, an interior has several nodes, or a node has no interior
/// although others have one.
Result<MachineSpec> compose(MachineSpec network, std::span<const NodeInterior> interiors,
                            const std::vector<std::string>& keep);

/// The names of all named nodes, in order.
std::vector<std::string> node_names(const MachineSpec& machine);

}  // namespace rankloom
