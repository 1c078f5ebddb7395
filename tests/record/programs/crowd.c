/* SPDX-License-Identifier: Apache-2.0
 * Many ranks with 8 partners each, at distance 1, 2, 4, … 128; then a reduction. The growth of the private memory of each
 * rank since the program was loaded is written to the file memory.<rank>. */
#include "program.h"

/* Private dirty memory of this process in kilobytes. */
static long private_memory(void) {
  char line[200];
  long total = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "Private_Dirty:", 14) == 0 || strncmp(line, "Shared_Dirty:", 13) == 0)
      total += atol(strchr(line, ':') + 1);
  if (file != NULL) fclose(file);
  return total;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int step = 1; step < size; step *= 2) {
    const int to = (rank + step) % size, from = (rank + size - step) % size;
    MPI_Sendrecv(out, 64, MPI_BYTE, to, 0, in, 64, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(in, 64);
  }
  int value = rank, result;
  MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  take(&result, sizeof result);
  write_memory(0, private_memory());
  return finish();
}
