// SPDX-License-Identifier: Apache-2.0
// place/reorder: the MPI functions that the library replaces, C binding. Arguments are machine words, as in the
// recorder, so that a program with another MPI passes them through unchanged.
#include <vector>

#include "rankloom/place/reorder/library/agreement.hpp"
#include "rankloom/place/reorder/library/virtual_topology.hpp"

namespace rankloom::reorder {

namespace {

template <class T>
T* pointer(Word word) {
  return reinterpret_cast<T*>(word);
}

bool should_reorder(Word reorder) {
  return static_cast<int>(reorder) != 0 && is_enabled();
}

}  // namespace

#define RANKLOOM_EXPORT [[gnu::visibility("default")]]

extern "C" {

int wrap_init(Word, Word) asm("MPI_Init");
RANKLOOM_EXPORT int wrap_init(Word argc, Word argv) {
  static constinit RealFunction real("PMPI_Init");
  const int status = real(argc, argv);
  if (status == MPI_SUCCESS) announce();
  return status;
}

int wrap_init_thread(Word, Word, Word, Word) asm("MPI_Init_thread");
RANKLOOM_EXPORT int wrap_init_thread(Word argc, Word argv, Word required, Word provided) {
  static constinit RealFunction real("PMPI_Init_thread");
  const int status = real(argc, argv, required, provided);
  if (status == MPI_SUCCESS) announce();
  return status;
}

int wrap_cart_create(Word, Word, Word, Word, Word, Word) asm("MPI_Cart_create");
RANKLOOM_EXPORT int wrap_cart_create(Word comm, Word ndims, Word dims, Word periods, Word reorder, Word created) {
  static constinit RealFunction real("PMPI_Cart_create");
  if (!should_reorder(reorder)) return real(comm, ndims, dims, periods, reorder, created);
  return cart_create(handle_from<MPI_Comm>(comm), static_cast<int>(ndims), pointer<const int>(dims),
                     pointer<const int>(periods), static_cast<int>(reorder), pointer<MPI_Comm>(created));
}

int wrap_graph_create(Word, Word, Word, Word, Word, Word) asm("MPI_Graph_create");
RANKLOOM_EXPORT int wrap_graph_create(Word comm, Word nodes, Word index, Word edges, Word reorder, Word created) {
  static constinit RealFunction real("PMPI_Graph_create");
  if (!should_reorder(reorder)) return real(comm, nodes, index, edges, reorder, created);
  return graph_create(handle_from<MPI_Comm>(comm), static_cast<int>(nodes), pointer<const int>(index),
                      pointer<const int>(edges), static_cast<int>(reorder), pointer<MPI_Comm>(created));
}

int wrap_dist_graph_create(Word, Word, Word, Word, Word, Word, Word, Word, Word) asm("MPI_Dist_graph_create");
RANKLOOM_EXPORT int wrap_dist_graph_create(Word comm, Word n, Word sources, Word degrees, Word targets, Word weights,
                                           Word info, Word reorder, Word created) {
  static constinit RealFunction real("PMPI_Dist_graph_create");
  if (!should_reorder(reorder)) return real(comm, n, sources, degrees, targets, weights, info, reorder, created);
  return dist_graph_create(handle_from<MPI_Comm>(comm), static_cast<int>(n), pointer<const int>(sources),
                           pointer<const int>(degrees), pointer<const int>(targets), pointer<const int>(weights),
                           handle_from<MPI_Info>(info), static_cast<int>(reorder), pointer<MPI_Comm>(created));
}

int wrap_dist_graph_create_adjacent(Word, Word, Word, Word, Word, Word, Word, Word, Word,
                                    Word) asm("MPI_Dist_graph_create_adjacent");
RANKLOOM_EXPORT int wrap_dist_graph_create_adjacent(Word comm, Word in, Word sources, Word in_weights, Word out,
                                                    Word targets, Word out_weights, Word info, Word reorder,
                                                    Word created) {
  static constinit RealFunction real("PMPI_Dist_graph_create_adjacent");
  if (!should_reorder(reorder))
    return real(comm, in, sources, in_weights, out, targets, out_weights, info, reorder, created);
  const Adjacency mine{.indegree = static_cast<int>(in),
                       .sources = pointer<const int>(sources),
                       .in_weights = pointer<const int>(in_weights),
                       .outdegree = static_cast<int>(out),
                       .targets = pointer<const int>(targets),
                       .out_weights = pointer<const int>(out_weights)};
  return dist_graph_create_adjacent(handle_from<MPI_Comm>(comm), mine, handle_from<MPI_Info>(info),
                                    static_cast<int>(reorder), pointer<MPI_Comm>(created));
}

}  // extern "C"

}  // namespace rankloom::reorder
