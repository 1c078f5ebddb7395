// SPDX-License-Identifier: Apache-2.0
// discover/probe: from the rates of pairs that send at once to the widths of network cards, buses and uplinks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/discover/probe/probe_table.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The width of a channel is the highest rate of several pairs together, relative to that of one pair alone. Repeated
/// measurements count with their median. A width that exceeds 1 by less than a tenth is 1. Channels for which one
/// pair, or several pairs, were not measured are left out.
std::vector<ChannelSpec::Width> widths_from_loads(std::span<const ProbeLoad> loads);

/// Adds the measured widths to a machine: "node" if it has several nodes, "bus", and "uplink" as the width of the level
/// above the nodes.
void add_measured_widths(std::span<const ProbeLoad> loads, MachineSpec& machine);

/// The hosts of the first two leaf switches. Empty if the nodes have fewer switches, or a routed network.
struct UplinkHosts {
  std::vector<std::string> from, to;
};
UplinkHosts hosts_of_uplink(const Topology& topology);

}  // namespace rankloom
