// SPDX-License-Identifier: Apache-2.0
// model/machine: the costs between the GPUs of ranks, instead of those between their cores.
#pragma once

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The same machine (levels, leaves, numbers, network) for ranks that exchange the memory of their GPUs: the costs
/// inside nodes are those between GPUs. A rank may use the GPUs near its core, or, if there are none, those of the
/// innermost object around it that has some.
///
/// The cost between the children of an object becomes the mean over all pairs of GPUs that two ranks below different
/// children may use: of a link between the two GPUs, or of the path that the machine describes if that has the lower
/// inverse bandwidth. Where all these ranks share one GPU, the cost is at most that of the object above.
///
/// This is exact where the links follow the levels: all GPUs of a node are linked alike (NVSwitch), or those of each
/// package are (pairs of MI250X, the two halves of a DGX-1). Where links cross the levels, it is a mean: a mapping then
/// knows how fast the GPUs of two objects are linked on average, not which of them.
///
/// The result has no links, because its costs contain them. A machine without links is returned as it is.
Result<Topology> with_gpu_links(const Topology& topology);

}  // namespace rankloom
