// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: recordings as the ranks write them: one file with the records of all ranks, or one file per
// rank if the ranks could not gather their records.
#pragma once

#include <string_view>

namespace rankloom {

/// The used part of a rank's file, without the allocated space at its end. The used parts of all rank files, one after
/// the other, are a recording. Empty: the rank ended before MPI_Init returned, or the file is not a RankRecord.
std::string_view used_part_of_rank_file(std::string_view file);

}  // namespace rankloom
