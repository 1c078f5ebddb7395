// SPDX-License-Identifier: Apache-2.0
// apps: a machine as `rankloom topo` shows it, and the parts of its sub-verbs.
#pragma once

#include <memory>
#include <string>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

/// {nodes, cores, pus, places, levels, …}
Json machine_json(const Topology& topology);
/// "12 nodes, 192 cores"
std::string machine_headline(const Topology& topology);
/// The headline, the network, the tree.
std::string machine_drawing(const Topology& topology, bool ascii);

/// Writes the machine as topology JSON to `output`, if any, and shows it; `more` joins what --json prints.
Result<int> deliver_machine(const Session& session, const Topology& topology, const std::string& output, bool ascii,
                            Json more, const std::string& words);

/// Sub-verbs that are long enough for a file of their own.
std::unique_ptr<Verb> make_topo_discover();
std::unique_ptr<Verb> make_topo_probe();

}  // namespace rankloom::app
