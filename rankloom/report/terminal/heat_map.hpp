// SPDX-License-Identifier: Apache-2.0
// report: who talks to whom as a picture of characters.
#pragma once

#include <cstddef>
#include <string>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// A square of at most `cells` rows: row r shows what a group of neighbouring ranks sends, column c to whom. Five
/// shades, each a factor of ten of bytes a pair of ranks; the darkest is the most. Ranks are written beside the rows.
/// O(edges).
std::string heat_map(const CommGraph& graph, std::size_t cells);

}  // namespace rankloom
