// SPDX-License-Identifier: Apache-2.0
// bench: Scotch as the published comparison at one rank a core ran it.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom::bench {

/// Scotch's default strategy with no imbalance allowed, so that every core gets its one rank. Our mapper `scotch`
/// allows a hundredth and repairs what comes out, which costs less on grids and more on cliques.
std::unique_ptr<Mapper> make_exact_scotch();

}  // namespace rankloom::bench
