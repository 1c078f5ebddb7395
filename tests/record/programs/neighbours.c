/* SPDX-License-Identifier: Apache-2.0
 * Neighbourhood collectives: "cart" (2 x 3, one dimension periodic), "ring" (one periodic dimension of length `ranks`, another
 * of length 1), "graph", "dist_graph" (0 → 1 twice, 0 → 2, 2 → 0) and "balanced" (0 → 1 twice, 1 → 0, 1 → 2, 2 → 0: every
 * rank has as many sources as destinations). Optional second argument: "nonblocking". */
#include "program.h"

static int work[4096], result[4096];

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* const shape = argv[1];
  const int nonblocking = argc > 2 && strcmp(argv[2], "nonblocking") == 0;
  MPI_Comm comm;

  if (strcmp(shape, "cart") == 0) {
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 3}, (int[]){0, 1}, 0, &comm);
  } else if (strcmp(shape, "ring") == 0) {
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){size, 1}, (int[]){1, 1}, 0, &comm);
  } else if (strcmp(shape, "graph") == 0) { /* a chain 0 - 1 - 2 */
    MPI_Graph_create(MPI_COMM_WORLD, 3, (int[]){1, 3, 4}, (int[]){1, 0, 2, 1}, 0, &comm);
  } else if (strcmp(shape, "balanced") == 0) {
    const int degree[] = {2, 2, 1}, sources[3][2] = {{1, 2}, {0, 0}, {1}}, targets[3][2] = {{1, 1}, {0, 2}, {0}};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree[rank], sources[rank], MPI_UNWEIGHTED, degree[rank],
                                   targets[rank], MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  } else {
    const int in_count[] = {1, 2, 1}, out_count[] = {3, 0, 1};
    const int sources[3][2] = {{2}, {0, 0}, {0}}, targets[3][3] = {{1, 1, 2}, {0}, {0}};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_count[rank], sources[rank], MPI_UNWEIGHTED, out_count[rank],
                                   targets[rank], MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  }
  for (int i = 0; i < 4096; ++i) {
    work[i] = 1000 * rank + i;
    result[i] = 0;
  }
  /* Blocks have 10, 20, 30, 40 and 50 ints, depending on the function. */
  int counts[2][8], places[2][8];
  MPI_Aint bytes[8];
  MPI_Datatype types[8];
  for (int i = 0; i < 8; ++i) {
    counts[0][i] = 40;
    counts[1][i] = 50;
    places[0][i] = 100 * i;
    bytes[i] = (MPI_Aint)sizeof(int) * 100 * i;
    types[i] = MPI_INT;
  }
  if (!nonblocking) {
    MPI_Neighbor_allgather(work, 10, MPI_INT, result, 10, MPI_INT, comm);
    take(result, sizeof result);
    MPI_Neighbor_alltoall(work, 20, MPI_INT, result, 20, MPI_INT, comm);
    take(result, sizeof result);
    int thirty[8] = {30, 30, 30, 30, 30, 30, 30, 30};
    MPI_Neighbor_allgatherv(work, 30, MPI_INT, result, thirty, places[0], MPI_INT, comm);
    take(result, sizeof result);
    MPI_Neighbor_alltoallv(work, counts[0], places[0], MPI_INT, result, counts[0], places[0], MPI_INT, comm);
    take(result, sizeof result);
    MPI_Neighbor_alltoallw(work, counts[1], bytes, types, result, counts[1], bytes, types, comm);
  } else {
    MPI_Request request;
    MPI_Ineighbor_allgather(work, 10, MPI_INT, result, 10, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(result, sizeof result);
    MPI_Ineighbor_alltoall(work, 20, MPI_INT, result, 20, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(result, sizeof result);
    int thirty[8] = {30, 30, 30, 30, 30, 30, 30, 30};
    MPI_Ineighbor_allgatherv(work, 30, MPI_INT, result, thirty, places[0], MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(result, sizeof result);
    MPI_Ineighbor_alltoallv(work, counts[0], places[0], MPI_INT, result, counts[0], places[0], MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    take(result, sizeof result);
    MPI_Ineighbor_alltoallw(work, counts[1], bytes, types, result, counts[1], bytes, types, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  take(result, sizeof result);
  MPI_Comm_free(&comm);
  return finish();
}
