/* SPDX-License-Identifier: Apache-2.0
 * Programs that end in every way. Each rank sends 1,000 bytes to the next rank three times, and 10 bytes to itself so often
 * that the recorder uses its fast path; then rank 1, or all ranks, end in the way that the first argument names. 3 ranks. */
#include <signal.h>

#include "program.h"

static void talk(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int turn = 0; turn < 3; ++turn)
    MPI_Sendrecv(out, 1000, MPI_BYTE, next, 0, in, 1000, MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int turn = 0; turn < 500; ++turn)
    MPI_Sendrecv(out, 10, MPI_BYTE, rank, 0, in, 10, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say(); /* before the first rank can end: launchers may then end the others */
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const how = argv[1];
  begin(&argc, &argv);
  talk();
#define IS(name) (strcmp(how, name) == 0)
  if (IS("exit")) exit(7);
  if (IS("_exit")) _exit(7);
  if (IS("quick_exit")) quick_exit(7);
  if (IS("return")) return 7; /* without MPI_Finalize */
  if (IS("finalize")) {
    MPI_Finalize();
    return 7;
  }
  /* Only rank 1 ends in this way; the others wait until the launcher ends them. */
  if (rank == 1) {
    usleep(100000);
    if (IS("abort")) abort();
    if (IS("MPI_Abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if (IS("kill")) raise(SIGKILL);
    if (IS("segv")) raise(SIGSEGV);
    if (IS("fault")) *(volatile int*)NULL = 1;
    if (IS("term")) raise(SIGTERM);
    if (IS("exit one")) exit(7);
    if (IS("_exit one")) _exit(7);
  }
  MPI_Recv(in, 1, MPI_BYTE, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
