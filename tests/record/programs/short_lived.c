/* SPDX-License-Identifier: Apache-2.0
 * 10,000 communicators with one message and one collective each: split in reverse order and duplicated alternately. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  long before = 0;
  for (int turn = 0; turn < 10000; ++turn) {
    if (turn == 1000) before = status_of("VmData:");
    MPI_Comm comm;
    int local, value = turn;
    if (turn % 2 == 0) {
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    } else {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    MPI_Comm_rank(comm, &local);
    if (local == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, comm);
    if (local == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    take(&value, sizeof value);
    MPI_Comm_free(&comm);
  }
  write_memory(before, status_of("VmData:"));
  return finish();
}
