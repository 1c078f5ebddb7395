/* SPDX-License-Identifier: Apache-2.0
 * Uneven collectives of MPI-4: with large counts (MPI_Count), or persistent and started twice. 4 ranks, root 1. */
#include "program.h"

#define TWICE(call, ...)                        \
  do {                                          \
    MPI_Request request;                        \
    call(__VA_ARGS__, MPI_INFO_NULL, &request); \
    for (int turn = 0; turn < 2; ++turn) {      \
      MPI_Start(&request);                      \
      MPI_Wait(&request, MPI_STATUS_IGNORE);    \
    }                                           \
    MPI_Request_free(&request);                 \
  } while (0)

static int work[4096], result[4096];

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const MPI_Comm comm = MPI_COMM_WORLD;
  int counts[4], places[4], to[4];
  MPI_Count counts_c[4], to_c[4];
  MPI_Aint places_c[4], bytes_c[4];
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  int bytes[4];
  for (int i = 0; i < 4096; ++i) work[i] = 1000 * rank + i;
  for (int q = 0; q < 4; ++q) {
    counts[q] = (int)(counts_c[q] = q + 1);
    places[q] = (int)(places_c[q] = 100 * q);
    to[q] = (int)(to_c[q] = (rank + 1) * (q + 1));
    bytes[q] = (int)(bytes_c[q] = (MPI_Aint)sizeof(int) * 100 * q);
  }
  if (argc > 1 && strcmp(argv[1], "persistent") == 0) {
    TWICE(MPI_Gatherv_init, work, rank + 1, MPI_INT, result, counts, places, MPI_INT, 1, comm);
    TWICE(MPI_Scatterv_init, work, counts, places, MPI_INT, result, rank + 1, MPI_INT, 1, comm);
    TWICE(MPI_Allgatherv_init, work, rank + 1, MPI_INT, result, counts, places, MPI_INT, comm);
    TWICE(MPI_Reduce_scatter_init, work, result, counts, MPI_INT, MPI_SUM, comm);
    TWICE(MPI_Alltoallv_init, work, to, places, MPI_INT, result, to, places, MPI_INT, comm);
    TWICE(MPI_Alltoallw_init, work, to, bytes, types, result, to, bytes, types, comm);
  } else {
    for (int turn = 0; turn < 2; ++turn) {
      MPI_Gatherv_c(work, rank + 1, MPI_INT, result, counts_c, places_c, MPI_INT, 1, comm);
      MPI_Scatterv_c(work, counts_c, places_c, MPI_INT, result, rank + 1, MPI_INT, 1, comm);
      MPI_Allgatherv_c(work, rank + 1, MPI_INT, result, counts_c, places_c, MPI_INT, comm);
      MPI_Reduce_scatter_c(work, result, counts_c, MPI_INT, MPI_SUM, comm);
      MPI_Alltoallv_c(work, to_c, places_c, MPI_INT, result, to_c, places_c, MPI_INT, comm);
      MPI_Alltoallw_c(work, to_c, bytes_c, types, result, to_c, bytes_c, types, comm);
    }
  }
  take(result, sizeof result);
  return finish();
}
