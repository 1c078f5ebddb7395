// SPDX-License-Identifier: Apache-2.0
// place/reorder: the names under which programs call MPI, in C and Fortran. Arguments come as words, as the recorder
// takes them: in a program of another MPI they go through untouched.
#include <vector>

#include "rankloom/place/reorder/library/create.hpp"

namespace rankloom::reorder {

namespace {

template <class T>
T* address(Word word) {
  return reinterpret_cast<T*>(word);
}

bool concerns(Word reorder) {
  return static_cast<int>(reorder) != 0 && is_on();
}

}  // namespace

#define RANKLOOM_EXPORT [[gnu::visibility("default")]]

extern "C" {

int wrap_cart_create(Word, Word, Word, Word, Word, Word) asm("MPI_Cart_create");
RANKLOOM_EXPORT int wrap_cart_create(Word comm, Word ndims, Word dims, Word periods, Word reorder, Word created) {
  static constinit Real real("PMPI_Cart_create");
  if (!concerns(reorder)) return real(comm, ndims, dims, periods, reorder, created);
  return cart_create(handle_from<MPI_Comm>(comm), static_cast<int>(ndims), address<const int>(dims),
                     address<const int>(periods), static_cast<int>(reorder), address<MPI_Comm>(created));
}

int wrap_graph_create(Word, Word, Word, Word, Word, Word) asm("MPI_Graph_create");
RANKLOOM_EXPORT int wrap_graph_create(Word comm, Word nodes, Word index, Word edges, Word reorder, Word created) {
  static constinit Real real("PMPI_Graph_create");
  if (!concerns(reorder)) return real(comm, nodes, index, edges, reorder, created);
  return graph_create(handle_from<MPI_Comm>(comm), static_cast<int>(nodes), address<const int>(index),
                      address<const int>(edges), static_cast<int>(reorder), address<MPI_Comm>(created));
}

int wrap_dist_graph_create(Word, Word, Word, Word, Word, Word, Word, Word, Word) asm("MPI_Dist_graph_create");
RANKLOOM_EXPORT int wrap_dist_graph_create(Word comm, Word n, Word sources, Word degrees, Word targets, Word weights,
                                           Word info, Word reorder, Word created) {
  static constinit Real real("PMPI_Dist_graph_create");
  if (!concerns(reorder)) return real(comm, n, sources, degrees, targets, weights, info, reorder, created);
  return dist_graph_create(handle_from<MPI_Comm>(comm), static_cast<int>(n), address<const int>(sources),
                           address<const int>(degrees), address<const int>(targets), address<const int>(weights),
                           handle_from<MPI_Info>(info), static_cast<int>(reorder), address<MPI_Comm>(created));
}

int wrap_dist_graph_create_adjacent(Word, Word, Word, Word, Word, Word, Word, Word, Word,
                                    Word) asm("MPI_Dist_graph_create_adjacent");
RANKLOOM_EXPORT int wrap_dist_graph_create_adjacent(Word comm, Word in, Word sources, Word in_weights, Word out,
                                                    Word targets, Word out_weights, Word info, Word reorder,
                                                    Word created) {
  static constinit Real real("PMPI_Dist_graph_create_adjacent");
  if (!concerns(reorder)) return real(comm, in, sources, in_weights, out, targets, out_weights, info, reorder, created);
  const Adjacency mine{.in = static_cast<int>(in),
                       .sources = address<const int>(sources),
                       .in_weights = address<const int>(in_weights),
                       .out = static_cast<int>(out),
                       .targets = address<const int>(targets),
                       .out_weights = address<const int>(out_weights)};
  return dist_graph_create_adjacent(handle_from<MPI_Comm>(comm), mine, handle_from<MPI_Info>(info),
                                    static_cast<int>(reorder), address<MPI_Comm>(created));
}

}  // extern "C"

}  // namespace rankloom::reorder
