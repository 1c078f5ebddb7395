// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: how the commands of `rankloom topo` print and write a machine.
#pragma once

#include <string>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

/// {nodes, cores, pus, slots, levels, …}
Json machine_json(const Topology& topology);
/// "12 nodes, 192 cores"
std::string machine_headline(const Topology& topology);
/// The headline, the network, the tree.
std::string machine_drawing(const Topology& topology, bool ascii, std::size_t width);

/// Writes the machine as topology JSON to `output`, unless that is empty, and prints it: with --json as machine_json
/// with the keys of `more`, else as a drawing followed by `details`.
Result<int> deliver_machine(const Session& session, const Topology& topology, const std::string& output, bool ascii,
                            const Json& more, const std::string& details);

}  // namespace rankloom::app
