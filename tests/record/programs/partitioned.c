/* SPDX-License-Identifier: Apache-2.0
 * A message in 4 partitions of 100 doubles, sent three times: 3 messages of 3,200 bytes. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(out, 4, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(in, 2, 200, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Start(&request);
    if (rank == 0) {
      MPI_Pready(3, request);
      MPI_Pready_range(0, 1, request);
      MPI_Pready_list(1, (int[]){2}, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  take(in, 3200);
  return finish();
}
