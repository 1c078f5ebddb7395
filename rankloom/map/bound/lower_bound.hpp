// SPDX-License-Identifier: Apache-2.0
// map/bound: a lower bound on the objective: no placement has a lower value.
#pragma once

#include <optional>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The maximum of all bounds that apply. Nothing for congestion, which is not a sum over pairs, and for programs
/// without ranks. Exact except for the rounding of sums. O(edges x log degree) in parallel for every program, and a few
/// hundredths of a second more for the tighter bounds of qap ones. Copies the traffic only if it is directed and has
/// at most 50 million edges.
std::optional<double> lower_bound(const MapProblem& problem);

}  // namespace rankloom
