// SPDX-License-Identifier: Apache-2.0
// discover: one machine out of several sources: the network from one, the inside of the nodes from others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// What is inside some nodes.
struct NodeInterior {
  /// Empty: the node that is called as the machine says; the first such interior also serves all other nodes.
  std::vector<std::string> hosts = {};
  MachineSpec machine = {};  ///< One node.
};

/// Hosts side by side at one switch, each of one core.
MachineSpec flat_network(const std::vector<std::string>& hosts);

/// The network with these insides in its nodes; `keep` names the nodes that stay (empty: all). A name with a domain and
/// one without are the same host. Where a network's cheapest way would cost less than the dearest one inside a node,
/// its costs are scaled up: sources that only know shapes must not make a network look near. Fails when a host is not
/// in the network, an interior has several nodes, or a node gets none though all others do.
Result<MachineSpec> compose(MachineSpec network, std::span<const NodeInterior> interiors,
                            const std::vector<std::string>& keep);

/// The nodes of a machine with a name, in order.
std::vector<std::string> named_nodes(const MachineSpec& machine);

}  // namespace rankloom
