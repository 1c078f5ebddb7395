// SPDX-License-Identifier: Apache-2.0
// map/bound: the certificate: a value of the objective that no placement is below.
#pragma once

#include <optional>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The largest of the bounds that apply; none for congestion, which is no sum over pairs, and for nobody. Exact but for
/// the rounding of sums. O(edges x log degree) in parallel for every program, and a few hundredths of a second more for
/// the finer bounds of small ones; no copy of the traffic unless it is directed and below `most_copied_edges`.
std::optional<double> lower_bound(const MapProblem& problem);

}  // namespace rankloom
