/* SPDX-License-Identifier: Apache-2.0
 * 500 messages between random ranks, of random sizes, with random functions and in random communicators. All ranks draw the
 * same numbers from the seed, which is the first argument. */
#include "program.h"

static uint64_t state;
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  state = (uint64_t)atoi(argv[1]);
  MPI_Comm comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Comm_dup(comms[1], &comms[2]);
  for (int message = 0; message < 500; ++message) {
    const int which = draw(3), from = draw(size), to = draw(size), call = draw(4);
    const int bytes = draw(4) == 0 ? 0 : draw(draw(2) == 0 ? 100 : 20000);
    int me;
    MPI_Comm_rank(comms[which], &me);
    MPI_Request sent = MPI_REQUEST_NULL, got = MPI_REQUEST_NULL;
    if (me == to) MPI_Irecv(in, bytes, MPI_BYTE, from, message, comms[which], &got);
    if (me == from) {
      if (call == 0) MPI_Send(out, bytes, MPI_BYTE, to, message, comms[which]);
      if (call == 1) MPI_Isend(out, bytes, MPI_BYTE, to, message, comms[which], &sent);
      if (call == 2) MPI_Ssend(out, bytes, MPI_BYTE, to, message, comms[which]);
      if (call == 3) MPI_Issend(out, bytes, MPI_BYTE, to, message, comms[which], &sent);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&got, MPI_STATUS_IGNORE);
    if (me == to) take(in, (size_t)bytes);
  }
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
  return finish();
}
