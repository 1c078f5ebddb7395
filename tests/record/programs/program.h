/* SPDX-License-Identifier: Apache-2.0
 * Shared by the programs of these tests: each rank prints one line with a checksum of everything that it received,
 * which must be the same with and without the recorder. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What aborts in MPICH 5.0.2, although MPI allows it or the program handles the error. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
#define IS_MPICH_5 1
#else
#define IS_MPICH_5 0
#endif

static int rank, size;
static uint64_t sum = 14695981039346656037u;
static unsigned char out[1 << 16], in[1 << 16];

/* Adds received data to the checksum (FNV-1a). */
static void take(const void* data, size_t bytes) {
  const unsigned char* at = data;
  while (bytes-- > 0) sum = (sum ^ *at++) * 1099511628211u;
}

static void fill(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (unsigned char)(i * 7 + (size_t)rank);
}

static void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  fill();
}

/* One write, so that lines of several ranks do not mix. */
static void say(void) {
  char line[100];
  const int length = snprintf(line, sizeof line, "rank %d of %d: %016llx\n", rank, size, (unsigned long long)sum);
  if (write(1, line, (size_t)length) != length) abort();
}

static int finish(void) {
  say();
  MPI_Finalize();
  return 0;
}

/* Kilobytes after a key of /proc/self/status, as "VmRSS:". */
static long status_of(const char* key) {
  char line[200];
  long value = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, strlen(key)) == 0) value = atol(line + strlen(key));
  if (file != NULL) fclose(file);
  return value;
}

/* Memory of this rank, in kilobytes, as a line of the file memory.<rank>: before and after. */
static void write_memory(long before, long after) {
  char name[40];
  snprintf(name, sizeof name, "memory.%d", rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%ld %ld\n", before, after);
  fclose(file);
}
