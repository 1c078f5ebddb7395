// SPDX-License-Identifier: Apache-2.0
// Four threads count in turn, 50 rounds. "apart": each in a separate line; "together": all in one line (false sharing);
// "constant": they read data that no thread writes; "atomic": one counter, with atomic additions.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { members = 4, rounds = 50 };
static _Alignas(4096) volatile long counters[members * 64];
static _Alignas(64) const volatile long constants[members * 8];
static _Alignas(64) long total;
static pthread_barrier_t barrier;
static const char* how;

static void* count(void* argument) {
  const long me = (long)argument;
  for (int round = 0; round < rounds * members; ++round) {
    pthread_barrier_wait(&barrier);
    if (round % members != me) continue;
    if (strcmp(how, "apart") == 0) counters[me * 64] += 1;
    if (strcmp(how, "together") == 0) counters[me] += 1;
    if (strcmp(how, "constant") == 0) (void)(constants[0] + constants[8]);
    if (strcmp(how, "atomic") == 0) __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "apart";
  pthread_t threads[members];
  pthread_barrier_init(&barrier, NULL, members);
  for (long me = 0; me < members; ++me) pthread_create(&threads[me], NULL, count, (void*)me);
  for (int me = 0; me < members; ++me) pthread_join(threads[me], NULL);
  printf("%ld\n", total);
  return 0;
}
