/* SPDX-License-Identifier: Apache-2.0
 * Ranks that are half of the program apart exchange large messages. Every rank prints "rank host". With the argument "exit", rank 0
 * exits without MPI_Finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char sent[200000], received[200000];

int main(int argc, char** argv) {
  int rank = 0, size = 0, round = 0;
  char host[256] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int partner = (rank + size / 2) % size;
  for (round = 0; round < 4; ++round)
    MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, partner, 0, received, sizeof received, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  gethostname(host, sizeof host - 1);
  printf("%d %s\n", rank, host);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && rank == 0 && strcmp(argv[1], "exit") == 0) _exit(3);
  MPI_Finalize();
  return 0;
}
