// SPDX-License-Identifier: Apache-2.0
// map/eager: removes overload from cores: by moves at the lowest cost, and by repacking parts of the machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// Moves ranks away from each overloaded core, those with the lowest cost per load first. The destination is the best
/// of the closest cores with enough spare capacity around the rank's core and around its partners' cores. No core
/// becomes overloaded; some cores may stay overloaded. After the deadline, any core with enough spare capacity is
/// taken.
void offload_overloaded_cores(PlacementState& state, LoadLimit& limit, StopCondition& stop_condition);

/// Reassigns all ranks in the order of decreasing load: a rank stays if its core has enough spare capacity next to
/// the heavier ranks that are already assigned, and otherwise moves to the best core with enough spare capacity. So
/// mostly light ranks move, for which there are more destinations. Requires that cores do not limit the number of their
/// ranks.
void reassign_by_decreasing_load(PlacementState& state, LoadLimit& limit, StopCondition& stop_condition);

/// Repacks the ranks by their loads alone, in the smallest parts of the machine that suffice. Bottom up: in a part with
/// an overloaded core, ranks move and are exchanged until no core is overloaded, or the part gets a new packing. A part
/// that cannot hold its loads within the limit is left to its parent, finally to the whole machine. Returns the largest
/// core load; it exceeds the limit only if no packing of the whole machine within the limit was found. `loads` by rank,
/// `max_ranks` by core.
double repack_overloaded_parts(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
                               std::span<const std::uint32_t> max_ranks, double limit, std::vector<Core>& core_of);

/// Assigns the bins of a packing to cores so that much load stays on its current core: a greedy matching of bins with
/// cores by their common load. A bin is matched with a core of equal max_ranks. Returns the core of each rank.
/// O(ranks log ranks + bins).
std::vector<std::uint32_t> match_bins_to_cores(std::span<const std::uint32_t> bin_of, std::span<const Core> current,
                                               std::span<const double> loads, std::span<const std::uint32_t> max_ranks);

}  // namespace rankloom
