/* SPDX-License-Identifier: Apache-2.0
 * 10,000,000 messages to itself, of 0 to 63 bytes. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int turns = 10000000;
  long before = 0;
  MPI_Request request;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn == 100000) before = status_of("VmData:");
    MPI_Irecv(in, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(out, turn % 64, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  write_memory(before, status_of("VmData:"));
  take(in, 64);
  return finish();
}
