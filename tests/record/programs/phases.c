/* SPDX-License-Identifier: Apache-2.0
 * Phases: rank 0 sends to rank 1 before any level (1 byte), at level 2 (10 bytes, and later 10 more), and at level 3 (100
 * bytes and a broadcast). Between them it waits for the number of milliseconds in the first argument. */
#include "program.h"

static void send(int bytes) {
  if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const useconds_t wait = argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 0;
  send(1);
  usleep(wait);
  MPI_Pcontrol(2);
  send(10);
  usleep(wait);
  MPI_Pcontrol(3);
  send(100);
  MPI_Bcast(out, 5, MPI_INT, 0, MPI_COMM_WORLD);
  usleep(wait);
  MPI_Pcontrol(2);
  send(10);
  return finish();
}
