// SPDX-License-Identifier: Apache-2.0
// place/reorder: the four MPI functions that create virtual topologies and may reorder ranks, with the arguments of the
// C binding. After a failure of the reordering, all processes keep the given order.
#pragma once

#include "rankloom/place/reorder/library/pmpi_functions.hpp"

namespace rankloom::reorder {

/// True if RANKLOOM_REORDER is not 0 and the program uses the MPI that this library was built for.
bool is_enabled();

int cart_create(MPI_Comm comm, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* created);
int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder, MPI_Comm* created);
int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* targets,
                      const int* weights, MPI_Info info, int reorder, MPI_Comm* created);

/// The neighbours of one process, as in MPI_Dist_graph_create_adjacent.
struct Adjacency {
  int indegree = 0;
  const int* sources = nullptr;
  const int* in_weights = nullptr;
  int outdegree = 0;
  const int* targets = nullptr;
  const int* out_weights = nullptr;
};
int dist_graph_create_adjacent(MPI_Comm comm, const Adjacency& adjacency, MPI_Info info, int reorder,
                               MPI_Comm* created);

}  // namespace rankloom::reorder
