// SPDX-License-Identifier: Apache-2.0
// tests/reorder: arguments that MPI rejects or handles in an implementation-specific way.
#include <mpi.h>

#include <stdio.h>

static int rank;

static void tell(const char* what, int outcome, MPI_Comm comm) {
  int kind = MPI_SUCCESS;
  if (outcome != MPI_SUCCESS) MPI_Error_class(outcome, &kind);
  if (rank == 0) printf("%s: %s %d %s\n", what, outcome == MPI_SUCCESS ? "taken" : "refused", kind, outcome == MPI_SUCCESS && comm == MPI_COMM_NULL ? "null" : "");
  if (outcome == MPI_SUCCESS && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm = MPI_COMM_NULL;
  int large[2] = {3, 7}, negative[2] = {-1, 2}, no[2] = {0, 0};
  tell("too large a grid", MPI_Cart_create(MPI_COMM_WORLD, 2, large, no, 1, &comm), comm);
  tell("a negative grid", MPI_Cart_create(MPI_COMM_WORLD, 2, negative, no, 1, &comm), comm);
  tell("a grid of nothing", MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &comm), comm);
  int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 9, 0};
  tell("too many vertices", MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 1, &comm), comm);
  tell("an edge to nowhere", MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 1, &comm), comm);
#if !defined(MPICH)  // MPICH aborts the program in these cases regardless of the error handler
  int one = 1, outside = 17, inside = 0;
  tell("a target outside", MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &inside, &one, &outside, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm), comm);
  tell("a neighbour outside", MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &outside, MPI_UNWEIGHTED, 1, &outside, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm), comm);
#endif
  // MPI still works afterwards.
  int dims[1] = {3}, ring[1] = {1};
  tell("a ring", MPI_Cart_create(MPI_COMM_WORLD, 1, dims, ring, 1, &comm), comm);
  return MPI_Finalize();
}
