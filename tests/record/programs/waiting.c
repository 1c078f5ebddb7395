/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 computes for half a second while rank 1 waits for its message. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const double start = MPI_Wtime();
  volatile double work = 0;
  if (rank == 0) {
    while (MPI_Wtime() - start < 0.5)
      for (int i = 0; i < 1000000; ++i) work = work + i;
    MPI_Send(out, 10, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in, 10, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return finish();
}
