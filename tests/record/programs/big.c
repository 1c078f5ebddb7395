/* SPDX-License-Identifier: Apache-2.0
 * One message to itself of more bytes than 32 bits can count. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int count = 290 * 1000 * 1000;
  double* from = calloc((size_t)count, sizeof *from);
  double* to = malloc((size_t)count * sizeof *to);
  from[count - 1] = 5;
  MPI_Sendrecv(from, count, MPI_DOUBLE, 0, 0, to, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(&to[count - 1], sizeof *to);
  return finish();
}
