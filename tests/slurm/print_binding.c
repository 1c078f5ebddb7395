/* SPDX-License-Identifier: Apache-2.0
 * Every rank prints "rank host cpu-list right" with its binding from the kernel, after all ranks have communicated. With an
 * argument it exits without MPI_Finalize, in which MPICH over UCX hangs between virtual hosts of one machine. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0, next = 0, sum = 0;
  char host[256] = "", line[512], cpus[256] = "?";
  FILE* status = fopen("/proc/self/status", "r");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &next, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&next, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  gethostname(host, sizeof host - 1);
  while (status && fgets(line, sizeof line, status)) {
    if (sscanf(line, "Cpus_allowed_list: %255s", cpus) == 1) break;
  }
  printf("%d %s %s %s\n", rank, host, cpus, sum == size * (size - 1) / 2 ? "right" : "wrong");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) {
    usleep(200000);
    _exit(0);
  }
  MPI_Finalize();
  return 0;
}
