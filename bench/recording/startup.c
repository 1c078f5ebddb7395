/* SPDX-License-Identifier: Apache-2.0
 * bench/recording: the processor time for which the recorder runs at the start of a rank. The program calls PMPI_Init,
 * which the recorder does not wrap, so that the recorder starts in the first wrapped call. Prints the mean over the
 * ranks in milliseconds. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  int found, rank, size;
  double sum = 0;
  PMPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  const double begin = milliseconds();
  MPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  const double time = milliseconds() - begin;
  PMPI_Reduce(&time, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.4f\n", sum / size);
  return MPI_Finalize();
}
