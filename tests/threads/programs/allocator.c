// SPDX-License-Identifier: Apache-2.0
// A program with its own allocator, which is instrumented and runs before everything else. Its lock is not recursive.
// Compile with -fno-builtin: otherwise GCC replaces the calloc defined here by a call of itself.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static _Alignas(64) char heap[1 << 26];
static size_t used;
static atomic_flag taken = ATOMIC_FLAG_INIT;

void* malloc(size_t size) {
  while (atomic_flag_test_and_set(&taken)) {
  }
  char* const found = heap + used;
  used += 16 + (size + 15) / 16 * 16;
  *(size_t*)found = size;
  atomic_flag_clear(&taken);
  return used <= sizeof heap ? found + 16 : NULL;
}
void free(void* nothing) {
  (void)nothing;
}
void* calloc(size_t count, size_t size) {
  void* const found = malloc(count * size);
  return found == NULL ? NULL : memset(found, 0, count * size);
}
void* realloc(void* old, size_t size) {
  void* const found = malloc(size);
  if (old == NULL || found == NULL) return found;
  const size_t before = ((size_t*)old)[-2];
  return memcpy(found, old, before < size ? before : size);
}

static int work(void* sums) {
  long* const mine = calloc(1000, sizeof *mine);
  for (int i = 0; i < 1000; ++i) mine[i] = i;
  *(long**)sums = mine;
  return 5;
}

int main(void) {
  thrd_t threads[3];
  long* sums[3];
  int status = 0, total = 0;
  for (int i = 0; i < 3; ++i) thrd_create(&threads[i], work, &sums[i]);
  for (int i = 0; i < 3; ++i) {
    thrd_join(threads[i], &status);
    for (int j = 0; j < 1000; ++j) total += sums[i][j] == j ? 1 : 0;
  }
  printf("%d %d\n", status, total);
  return 0;
}
