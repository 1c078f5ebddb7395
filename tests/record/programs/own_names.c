// SPDX-License-Identifier: Apache-2.0
// Calls a library with functions mpi_send and MPI_SEND of its own.
#include <stdio.h>

#include <mpi.h>

int own(int);

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  printf("%d\n", own(40));
  MPI_Finalize();
  return 0;
}
