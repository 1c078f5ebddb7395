// SPDX-License-Identifier: Apache-2.0
// A thread writes a megabyte, and the main thread reads it with the function that the argument names.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { size = 1 << 20 };
struct Block {
  char bytes[size];
};
static _Alignas(4096) struct Block from, to;

static void* fill(void* nothing) {
  memset(&from, 7, size);
  return nothing;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "memcpy";
  pthread_t thread;
  pthread_create(&thread, NULL, fill, NULL);
  pthread_join(thread, NULL);
  if (strcmp(how, "memset") == 0) memset(&from, 7, size);
  if (strcmp(how, "memcpy") == 0 && memcpy(&to, &from, size) != &to) abort();
  if (strcmp(how, "memmove") == 0 && memmove(from.bytes, from.bytes + 1, size - 1) != &from) abort();
  if (strcmp(how, "mempcpy") == 0 && mempcpy(&to, &from, size) != &to + 1) abort();
  if (strcmp(how, "struct") == 0) to = from;
  if (strcmp(how, "bytes") == 0)
    for (int at = 0; at < size; ++at) to.bytes[at] = from.bytes[at];
  if (strcmp(how, "unaligned") == 0)
    for (int at = 61; at + 8 < size; at += 128) memcpy(to.bytes + at, from.bytes + at, 8);
  return from.bytes[9] != 7;
}
