/* SPDX-License-Identifier: Apache-2.0
 * Communicates for a second: 20 rounds of 50 ms with 100 * round bytes each and an allreduce. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int round = 0; round < 20; ++round) {
    MPI_Sendrecv(out, 100 * round, MPI_BYTE, 1 - rank, 0, in, sizeof in, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int value = round, result;
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    take(&result, sizeof result);
    usleep(50000);
  }
  return finish();
}
