// SPDX-License-Identifier: Apache-2.0
// Rank r communicates with rank r + ranks / 2, and rank 0 prints the time of a step.
#include <mpi.h>
#include <stdio.h>

static char buffer[1000000];

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peer = (rank + ranks / 2) % ranks, steps = 20;
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step)
    MPI_Sendrecv_replace(buffer, sizeof buffer, MPI_CHAR, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) printf("step: %.6f s\n", (MPI_Wtime() - start) / steps);
  return MPI_Finalize();
}
