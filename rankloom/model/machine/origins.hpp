// SPDX-License-Identifier: Apache-2.0
// model/machine: where the numbers of a prediction come from: measured, stated by the user, discovered or assumed.
#pragma once

#include <string>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The given widths, and the defaults of all channels that messages of different cores share; top down, the bus last.
/// An infinite width is unlimited. Empty for a distance matrix.
std::vector<ChannelSpec::Width> effective_widths(const Topology& topology);

/// Where the cost of a level comes from. A level without a cost in its description has an assumed one.
Origin cost_origin(const Topology& topology, std::size_t level);

/// "width node=1, bus unlimited; costs of package, core": the assumed numbers that a prediction uses; empty: none.
std::string assumed_numbers(const Topology& topology);
/// "width node=2 (discovered), bus=4 (stated); costs of node (measured)": the others. Stated costs are left out.
std::string known_numbers(const Topology& topology);

}  // namespace rankloom
