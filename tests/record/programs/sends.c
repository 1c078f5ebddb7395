/* SPDX-License-Identifier: Apache-2.0
 * Every send function, from rank 0 to rank 1: the k-th sends 2^k bytes, so that the sum shows which ones were counted. */
#include "program.h"

enum { calls = 8 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char buffer[1 << 16];
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Request requests[calls];
  if (rank == 1) {
    for (int k = 0; k < calls; ++k) MPI_Irecv(in + 1000 * k, 1 << k, MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
    MPI_Barrier(MPI_COMM_WORLD); /* the receives are posted: ready sends are allowed */
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1 << 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Bsend(out, 1 << 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend(out, 1 << 2, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Rsend(out, 1 << 3, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    MPI_Isend(out, 1 << 4, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibsend(out, 1 << 5, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(out, 1 << 6, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &requests[2]);
    MPI_Irsend(out, 1 << 7, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  /* MPI_Sendrecv: 0 sends 2^8 and 2^9 bytes, 1 sends 3 and 2^9. */
  MPI_Status status;
  const int other = 1 - rank;
  MPI_Sendrecv(out, rank == 0 ? 1 << 8 : 3, MPI_BYTE, other, 8, in + 9000, 1 << 8, MPI_BYTE, other, 8, MPI_COMM_WORLD,
               &status);
  memcpy(in + 10000, out, 1 << 9);
  MPI_Sendrecv_replace(in + 10000, 1 << 9, MPI_BYTE, other, 9, other, 9, MPI_COMM_WORLD, &status);
  /* Receives and probes do not count. */
  if (rank == 0) MPI_Send(out, 1 << 10, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Message message;
    MPI_Mprobe(0, 10, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in + 11000, 1 << 10, MPI_BYTE, &message, &status);
  }
  void* detached;
  int bytes;
  MPI_Buffer_detach(&detached, &bytes);
  take(in, sizeof in);
  return finish();
}
