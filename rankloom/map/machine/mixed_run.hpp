// SPDX-License-Identifier: Apache-2.0
// map/machine: runs a mapper for ranks whose slots have several shapes.
#pragma once

#include "rankloom/map/run.hpp"

namespace rankloom {

/// Mappers know slots of one shape only. For each layout of the slots (see MixedSlots), the mapper places the ranks as
/// if all slots were equal. Then the ranks of each shape take the slots of this shape in the order of the cores that
/// the mapper chose for them, and ranks of the same shape are exchanged as long as this reduces the cost. The cheapest
/// result counts. Baselines place ranks in the first layout only, without exchanges. A start is one more layout.
Result<MapResult> run_on_mixed_slots(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run,
                                     MapRunOptions options);

}  // namespace rankloom
