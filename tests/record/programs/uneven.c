/* SPDX-License-Identifier: Apache-2.0
 * Collectives with different counts: rank r has r + 1 ints for each rank, and in an all-to-all (r + 1) * (q + 1) for rank q.
 * Arguments as in collectives.c; "only NAME" selects one collective. 4 ranks. */
#include "program.h"

#define NONBLOCKING(call, ...)             \
  do {                                     \
    MPI_Request request;                   \
    call(__VA_ARGS__, &request);           \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  } while (0)
#define EITHER(blocking, started, ...)   \
  do {                                   \
    if (nonblocking) {                   \
      NONBLOCKING(started, __VA_ARGS__); \
    } else {                             \
      blocking(__VA_ARGS__);             \
    }                                    \
  } while (0)

static int nonblocking, in_place;
static int work[4096], result[4096];
static const char* only = NULL;

static int wanted(const char* name) {
  for (int i = 0; i < 4096; ++i) work[i] = 1000 * rank + i;
  memset(result, 0, sizeof result);
  return only == NULL || strcmp(only, name) == 0;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    nonblocking |= strcmp(argv[i], "nonblocking") == 0;
    in_place |= strcmp(argv[i], "in-place") == 0;
    if (strcmp(argv[i], "only") == 0) only = argv[i + 1];
  }
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int root = 1;
  int counts[4], places[4], to[4], to_places[4], bytes_to[4], same[4];
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  for (int q = 0; q < 4; ++q) {
    counts[q] = q + 1;
    places[q] = 100 * q;
    to[q] = (rank + 1) * (q + 1);
    to_places[q] = 50 * q;
    bytes_to[q] = (int)sizeof(int) * to_places[q];
    same[q] = rank == q ? 0 : 1 + abs(rank - q); /* symmetric, and nothing to itself */
  }
  if (wanted("gatherv")) {
    if (in_place && rank == root) {
      memcpy(result + places[rank], work, sizeof(int) * counts[rank]);
      EITHER(MPI_Gatherv, MPI_Igatherv, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, result, counts, places, MPI_INT, root,
             comm);
    } else if (rank == root) {
      EITHER(MPI_Gatherv, MPI_Igatherv, work, rank + 1, MPI_INT, result, counts, places, MPI_INT, root, comm);
    } else {
      EITHER(MPI_Gatherv, MPI_Igatherv, work, rank + 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, comm);
    }
    take(result, sizeof result);
  }
  if (wanted("scatterv")) {
    if (in_place && rank == root) {
      EITHER(MPI_Scatterv, MPI_Iscatterv, work, counts, places, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root,
             comm);
    } else if (rank == root) {
      EITHER(MPI_Scatterv, MPI_Iscatterv, work, counts, places, MPI_INT, result, rank + 1, MPI_INT, root, comm);
    } else {
      EITHER(MPI_Scatterv, MPI_Iscatterv, NULL, NULL, NULL, MPI_DATATYPE_NULL, result, rank + 1, MPI_INT, root, comm);
    }
    if (rank != root) take(result, sizeof result);
  }
  if (wanted("allgatherv")) {
    if (in_place) {
      memcpy(result + places[rank], work, sizeof(int) * counts[rank]);
      EITHER(MPI_Allgatherv, MPI_Iallgatherv, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, result, counts, places, MPI_INT,
             comm);
    } else {
      EITHER(MPI_Allgatherv, MPI_Iallgatherv, work, rank + 1, MPI_INT, result, counts, places, MPI_INT, comm);
    }
    take(result, sizeof result);
  }
  if (wanted("reduce_scatter")) {
    if (in_place) {
      memcpy(result, work, sizeof result);
      EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_IN_PLACE, result, counts, MPI_INT, MPI_SUM, comm);
    } else {
      EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, work, result, counts, MPI_INT, MPI_SUM, comm);
    }
    take(result, sizeof(int) * counts[rank]);
  }
  if (wanted("alltoallv")) {
    if (in_place) {
      memcpy(result, work, sizeof result);
      EITHER(MPI_Alltoallv, MPI_Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, result, same, to_places,
             MPI_INT, comm);
    } else {
      EITHER(MPI_Alltoallv, MPI_Ialltoallv, work, to, to_places, MPI_INT, result, to, to_places, MPI_INT, comm);
    }
    take(result, sizeof result);
  }
  if (wanted("alltoallw")) {
    if (in_place) {
      memcpy(result, work, sizeof result);
      EITHER(MPI_Alltoallw, MPI_Ialltoallw, MPI_IN_PLACE, NULL, NULL, NULL, result, same, bytes_to, types, comm);
    } else {
      EITHER(MPI_Alltoallw, MPI_Ialltoallw, work, to, bytes_to, types, result, to, bytes_to, types, comm);
    }
    take(result, sizeof result);
  }
  return finish();
}
