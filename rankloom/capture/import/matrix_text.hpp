// SPDX-License-Identifier: Apache-2.0
// capture: a matrix as text, a line for each row: what dense text and EagerMap's tables share.
#pragma once

#include "rankloom/capture/import/reading.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

struct MatrixText {
  bool commas = false;          ///< Between the numbers of a line.
  bool last_row_first = false;  ///< The first line belongs to the last rank.
};

/// Entry (i, j) is what rank i sends to rank j, in bytes; zeros are no traffic. O(numbers) time, memory for what is not
/// 0.
Result<CommGraph> read_matrix_text(const FileContents& file, MatrixText style);

}  // namespace rankloom
