// SPDX-License-Identifier: Apache-2.0
// map/bound: the bound of Gilmore 1962 and Lawler 1963 on quadratic assignment, for qap problems.
#pragma once

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// A rank on a core costs at least the product of its traffic, in falling order, and the distances to the other slots,
/// in ascending order. A placement costs at least the optimum of the linear assignment over these costs. Supports fewer
/// ranks than slots, several ranks per core, and directed traffic and distances; not congestion. O(ranks² x slots).
double gilmore_lawler_bound(const MapProblem& problem);

/// Whether the problem is so qap that the bound takes at most some hundredths of a second.
bool fits_gilmore_lawler(const MapProblem& problem);

}  // namespace rankloom
