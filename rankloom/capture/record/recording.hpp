// SPDX-License-Identifier: Apache-2.0
// capture: recordings as the ranks leave them: one file in which all are, or one piece for each rank when they could
// not come together in the end.
#pragma once

#include <string_view>

namespace rankloom {

/// A piece without the room behind it that its rank did not need. Pieces put together are a recording.
std::string_view used_part_of_piece(std::string_view piece);

}  // namespace rankloom
