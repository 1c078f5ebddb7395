// SPDX-License-Identifier: Apache-2.0
// place/reorder: the four calls that may renumber, as C means them. Everything that could fail in them falls back to
// the order that was given, on all processes alike.
#pragma once

#include "rankloom/place/reorder/library/mpi.hpp"

namespace rankloom::reorder {

/// RANKLOOM_REORDER is not 0, and the program's MPI is the one that this library was built for.
bool is_on();

int cart_create(MPI_Comm comm, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* created);
int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder, MPI_Comm* created);
int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* targets,
                      const int* weights, MPI_Info info, int reorder, MPI_Comm* created);

/// The neighbours of one process.
struct Adjacency {
  int in = 0;
  const int* sources = nullptr;
  const int* in_weights = nullptr;
  int out = 0;
  const int* targets = nullptr;
  const int* out_weights = nullptr;
};
int dist_graph_create_adjacent(MPI_Comm comm, const Adjacency& mine, MPI_Info info, int reorder, MPI_Comm* created);

}  // namespace rankloom::reorder
