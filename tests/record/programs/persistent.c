/* SPDX-License-Identifier: Apache-2.0
 * Persistent requests count when they are started. Rank 0 sends to rank 1; the k-th kind sends 10^k bytes. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char buffer[1 << 16];
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Request requests[4], never, null_request;
  if (rank == 0) {
    MPI_Send_init(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend_init(out, 10, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend_init(out, 100, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Rsend_init(out, 1000, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[3]);
  } else {
    for (int k = 0, bytes = 1; k < 4; ++k, bytes *= 10)
      MPI_Recv_init(in + bytes, bytes, MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
  }
  MPI_Send_init(out, 5000, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD, &never); /* never started */
  MPI_Send_init(out, 5000, MPI_BYTE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &null_request);
  for (int turn = 0; turn < 3; ++turn) {        /* twice with MPI_Startall, then one by one */
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD); /* ready sends need their receives */
    if (turn < 2) {
      MPI_Startall(4, requests);
    } else {
      for (int k = 0; k < 4; ++k) MPI_Start(&requests[k]);
    }
    if (rank == 1) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&null_request);
    MPI_Wait(&null_request, MPI_STATUS_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  /* A request freed while active is still sent; MPI may reuse its handle for another request. */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Irecv(in + 30000, 10000, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &requests[0]);
  if (rank == 0) {
    MPI_Request going;
    MPI_Send_init(out, 10000, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &going);
    MPI_Start(&going);
    if (IS_MPICH_5) MPI_Wait(&going, MPI_STATUS_IGNORE);
    MPI_Request_free(&going);
  } else {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&never);
  MPI_Request_free(&null_request);
  if (rank == 0)
    for (int k = 0; k < 4; ++k) MPI_Request_free(&requests[k]);
  else
    for (int k = 1; k < 4; ++k) MPI_Request_free(&requests[k]);
  /* Receives whose requests reuse the handles of freed requests. */
  MPI_Request fresh;
  for (int turn = 0; turn < 10; ++turn) {
    if (rank == 1) {
      MPI_Recv_init(in + 50000, 100, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &fresh);
      MPI_Start(&fresh);
      MPI_Wait(&fresh, MPI_STATUS_IGNORE);
      MPI_Request_free(&fresh);
    } else {
      MPI_Send(out, 100, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    }
  }
  void* detached;
  int bytes;
  MPI_Buffer_detach(&detached, &bytes);
  take(in, sizeof in);
  return finish();
}
