/* SPDX-License-Identifier: Apache-2.0
 * Special cases of sends: to MPI_PROC_NULL, to itself, and empty messages. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Request request;
  /* To MPI_PROC_NULL. */
  MPI_Send(out, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Isend(out, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 100, MPI_INT, MPI_PROC_NULL, 0, in, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Send_init(out, 100, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  /* 5 empty messages from 0 to the last rank. */
  for (int turn = 0; turn < 5; ++turn) {
    if (rank == 0) MPI_Send(NULL, 0, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Recv(NULL, 0, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* To itself: in MPI_COMM_WORLD, in MPI_COMM_SELF, and by MPI_Sendrecv: 40, 24 and 8 bytes. */
  MPI_Isend(out, 10, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 10, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(out, 3, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &request);
  MPI_Recv(in + 100, 3, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 8, MPI_CHAR, rank, 3, in + 200, 8, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, sizeof in);
  return finish();
}
