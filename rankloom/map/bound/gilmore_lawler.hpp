// SPDX-License-Identifier: Apache-2.0
// map/bound: the bound of Gilmore 1962 and Lawler 1963 on quadratic assignment, for small problems.
#pragma once

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// A rank on a core costs at least its traffic, heaviest first, over the distances of the places around, nearest first;
/// a placement at least the linear assignment over these costs. Fewer ranks than places, several on a core, directed
/// traffic and distances are all right; congestion is not. O(ranks² x places).
double gilmore_lawler_bound(const MapProblem& problem);

/// Small enough for some hundredths of a second.
bool suits_gilmore_lawler(const MapProblem& problem);

}  // namespace rankloom
