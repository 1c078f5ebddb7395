/* SPDX-License-Identifier: Apache-2.0
 * The program behind the recorded traces of this folder: on any number of ranks, each kind of call that importers must
 * understand, with amounts that tell who sent what. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* out = calloc(4096, sizeof *out);
  double* in = calloc(4096, sizeof *in);
  MPI_Request request;

  /* A ring: rank r sends 100 + r doubles to the next, twice. */
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Irecv(in, 4096, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, 100 + rank, MPI_DOUBLE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  /* Nobody, and an empty message from 0 to the last. */
  MPI_Send(out, 7, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(out, 0, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD);
  if (rank == size - 1) MPI_Recv(in, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  /* Two halves whose ranks run backwards: local 0 of each sends 33 ints to local 1. */
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int local, members;
  MPI_Comm_rank(half, &local);
  MPI_Comm_size(half, &members);
  if (members > 1 && local == 0) {
    MPI_Isend(out, 33, MPI_INT, 1, 2, half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (members > 1 && local == 1) MPI_Recv(in, 33, MPI_INT, 0, 2, half, MPI_STATUS_IGNORE);

  /* Collectives of the world, then of the halves. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(out, 50, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Reduce(out, in, 60, MPI_DOUBLE, MPI_SUM, 2 % size, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Gather(out, 5, MPI_INT, in, 5, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(out, 6, MPI_INT, in, 6, MPI_INT, 3 % size, MPI_COMM_WORLD);
  MPI_Allgather(out, 7, MPI_INT, in, 7, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(out, 8, MPI_INT, in, 8, MPI_INT, MPI_COMM_WORLD);
  for (int turn = 0; turn < 3; ++turn) MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, half);
  MPI_Bcast(out, 9, MPI_CHAR, members - 1, half);

  MPI_Comm_free(&half);
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
