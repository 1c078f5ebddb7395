// SPDX-License-Identifier: Apache-2.0
// report/terminal: a heat map of the traffic as characters.
#pragma once

#include <cstddef>
#include <string>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// A square of at most `cells` rows. Row r shows the traffic that a group of consecutive ranks sends, column c the
/// receivers. Five shades, each a factor of ten in bytes per pair of ranks. Rank numbers label the rows. O(edges).
std::string heat_map(const CommGraph& graph, std::size_t cells);

}  // namespace rankloom
