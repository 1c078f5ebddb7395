/* SPDX-License-Identifier: Apache-2.0
 * A program with many small cases. Each case is a phase (a level of MPI_Pcontrol), so that the recording tells what was
 * counted in each case; the case says next to its calls what it expects. `cases NAME…` runs these cases, `cases` all of
 * them. At the end each rank writes expected.RANK: case, kind (sent, pair), receiver in MPI_COMM_WORLD, bytes,
 * messages. 4 ranks. */
#pragma once

#include "program.h"

struct Expected {
  long long bytes, messages;
};
enum { max_cases = 200, max_ranks = 16 };
static struct Expected sent[max_cases][max_ranks], paired[max_cases][max_ranks];
static int current_case;

/* This rank sends a message of so many bytes to a rank of MPI_COMM_WORLD. */
static void expect(int to, long long bytes) {
  sent[current_case][to].bytes += bytes;
  ++sent[current_case][to].messages;
}
static void expect_times(int to, long long bytes, int times) {
  for (int i = 0; i < times; ++i) expect(to, bytes);
}
/* In a collective with a count for each pair. */
static void expect_pair(int to, long long bytes) {
  if (bytes == 0 || to == rank) return;
  paired[current_case][to].bytes += bytes;
  ++paired[current_case][to].messages;
}
/* One-sided: the target sends to this rank; the target's matrix row is not known here, so both ends call expect(). */

static int next(void) {
  return (rank + 1) % size;
}
static int before(void) {
  return (rank + size - 1) % size;
}
static void flag(int value) {
  take(&value, sizeof value);
}
/* The class of an error code. */
static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}
static void fetch(int tag, int bytes) {
  MPI_Recv(in, bytes, MPI_BYTE, before(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(in, (size_t)bytes);
}
