/* SPDX-License-Identifier: Apache-2.0
 * bench: what messages cost: one rank to itself, by one call or by three, or two ranks to and fro. Prints nanoseconds for each message, the least of many batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buffer[1 << 17];
static char* const other = buffer + (1 << 16);

static void by_one_call(int count) {
  for (int i = 0; i < count; ++i) MPI_Sendrecv(buffer, 8, MPI_CHAR, 0, 0, other, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_three_calls(int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_Isend(buffer, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(other, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void to_and_fro(int rank, int bytes, int count) {
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(other, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const how = argc > 1 ? argv[1] : "one";
  /* Batches that are short, so that some are not disturbed by others on the machine. */
  const int bytes = atoi(how), count = bytes > 8192 ? 50 : bytes > 0 ? 100 : 1000;
  double best = 1e9;
  for (int batch = 0; batch < 1000; ++batch) {
    const double begin = MPI_Wtime();
    if (bytes > 0) to_and_fro(rank, bytes, count);
    else if (strcmp(how, "one") == 0) by_one_call(count);
    else by_three_calls(count);
    const double each = (MPI_Wtime() - begin) / count * 1e9;
    if (each < best) best = each;
  }
  if (rank == 0) printf("%.2f\n", best);
  return MPI_Finalize();
}
