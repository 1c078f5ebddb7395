/* SPDX-License-Identifier: Apache-2.0
 * The send functions of MPI-4, from rank 0 to rank 1: large counts, and nonblocking send-receive. The k-th sends 2^k bytes. */
#include "program.h"

enum { calls = 8 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char buffer[1 << 16];
  MPI_Buffer_attach_c(buffer, sizeof buffer);
  MPI_Request requests[calls];
  if (rank == 1) {
    for (int k = 0; k < calls; ++k) MPI_Irecv_c(in + 1000 * k, 1 << k, MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send_c(out, 1 << 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Bsend_c(out, 1 << 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend_c(out, 1 << 2, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Rsend_c(out, 1 << 3, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    MPI_Isend_c(out, 1 << 4, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibsend_c(out, 1 << 5, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend_c(out, 1 << 6, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &requests[2]);
    MPI_Irsend_c(out, 1 << 7, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  const int other = 1 - rank;
  const MPI_Count bytes = rank == 0 ? 1 : 0; /* rank 1 replies with empty messages, or with the same size where required */
  MPI_Request request;
  MPI_Sendrecv_c(out, bytes << 8, MPI_BYTE, other, 8, in + 9000, 1 << 8, MPI_BYTE, other, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace_c(out, 1 << 9, MPI_BYTE, other, 9, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Isendrecv(out, (int)bytes << 10, MPI_BYTE, other, 10, in + 10000, 1 << 10, MPI_BYTE, other, 10, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isendrecv_c(out, bytes << 11, MPI_BYTE, other, 11, in + 12000, 1 << 11, MPI_BYTE, other, 11, MPI_COMM_WORLD,
                  &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isendrecv_replace(out, 1 << 12, MPI_BYTE, other, 12, other, 12, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isendrecv_replace_c(out, 1 << 13, MPI_BYTE, other, 13, other, 13, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* Persistent with large counts, started twice. */
  if (rank == 0) {
    MPI_Send_init_c(out, 1 << 14, MPI_BYTE, 1, 14, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv_init_c(in + 20000, 1 << 14, MPI_BYTE, 0, 14, MPI_COMM_WORLD, &request);
  }
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  take(in, sizeof in);
  take(out, 1 << 14);
  return finish();
}
