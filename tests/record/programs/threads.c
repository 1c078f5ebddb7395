/* SPDX-License-Identifier: Apache-2.0
 * 4 threads on each of 2 ranks send at the same time, 300 messages each, half of them in a communicator of the thread. */
#include <pthread.h>

#include "program.h"

enum { threads = 4, turns = 300 };
static MPI_Comm own[threads];

static void* talk(void* number) {
  const int me = (int)(intptr_t)number;
  char from[64] = {0}, to[64];
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Comm comm = turn % 2 == 0 ? MPI_COMM_WORLD : own[me];
    MPI_Sendrecv(from, turn % 64, MPI_BYTE, 1 - rank, me, to, 64, MPI_BYTE, 1 - rank, me, comm, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) return 9;
  fill();
  pthread_t running[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, talk, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&own[i]);
  return finish();
}
