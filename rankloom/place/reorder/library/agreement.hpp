// SPDX-License-Identifier: Apache-2.0
// place/reorder: whether all ranks have this library. Reordering is collective, so a rank without the library (another
// host on which it is missing, a rank without LD_PRELOAD) would block the others. The ranks agree through files and not
// through MPI: each rank announces itself after MPI_Init, and the first rank that has to know decides for all.
#pragma once

namespace rankloom::reorder {

/// After MPI_Init: this rank has the library and would reorder.
void announce() noexcept;

/// Whether all ranks of MPI_COMM_WORLD have announced themselves: the same answer on all ranks that have the library.
/// Waits a limited time for ranks that have not, once per job.
bool all_ranks_take_part() noexcept;

}  // namespace rankloom::reorder
