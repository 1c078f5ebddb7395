/* SPDX-License-Identifier: Apache-2.0
 * Each rank sends 1,000 * (rank + 1) bytes to the next rank. The optional argument is the exit status. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(out, 1000 * (rank + 1), MPI_BYTE, next, 0, in, sizeof in, MPI_BYTE, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  take(in, sizeof in);
  finish();
  return argc > 1 ? atoi(argv[1]) : 0;
}
