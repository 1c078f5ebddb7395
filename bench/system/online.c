/* SPDX-License-Identifier: Apache-2.0
 * bench/system: equal pieces of work, one after the other: messages of a rank to itself, which the recorder counts, and
 * some arithmetic. Each rank writes the end time and the CPU time of each piece. Usage: online SECONDS FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { messages = 200, additions = 400000 };

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char** words) {
  int rank = 0;
  char out[64] = {0}, in[64], path[4096];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s.%d", words[2], rank);
  FILE* const file = fopen(path, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  volatile double sum = 0;
  const double end = seconds(CLOCK_MONOTONIC) + atof(words[1]);
  for (double now = 0; now < end;) {
    const double before = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < messages; ++i)
      MPI_Sendrecv(out, sizeof out, MPI_BYTE, rank, 0, in, sizeof in, MPI_BYTE, rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    for (int i = 0; i < additions; ++i) sum = sum + i;
    const double took = seconds(CLOCK_THREAD_CPUTIME_ID) - before;
    now = seconds(CLOCK_MONOTONIC);
    fprintf(file, "%.9f %.9f\n", now, took);
  }
  fclose(file);
  MPI_Finalize();
  return 0;
}
