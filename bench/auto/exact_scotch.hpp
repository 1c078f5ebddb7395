// SPDX-License-Identifier: Apache-2.0
// bench/auto: Scotch as in the published comparison with one rank per core.
#pragma once

#include <memory>

#include "rankloom/map/mapper.hpp"

namespace rankloom::bench {

/// Scotch's default strategy without imbalance, so that every core gets one rank. The mapper `scotch` allows an
/// imbalance of 1 % and repairs the result, which gives lower costs on grids and higher costs on cliques.
std::unique_ptr<Mapper> make_exact_scotch();

}  // namespace rankloom::bench
