// SPDX-License-Identifier: Apache-2.0
// place/reorder: the MPI functions that the library replaces, Fortran bindings. The Fortran bindings of Open MPI do not
// call the C functions that c_bindings.cpp replaces, so all their symbols are replaced here. In MPICH, mpif.h and `use
// mpi` call C functions; only mpi_f08 does not.
#include <array>
#include <initializer_list>
#include <vector>

#include "rankloom/place/reorder/library/agreement.hpp"
#include "rankloom/place/reorder/library/virtual_topology.hpp"

namespace rankloom::reorder {

namespace {

// NOLINTNEXTLINE(misc-redundant-expression): true with these headers, not with all
static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran integers are passed to C functions");

template <class T>
T* pointer(Word word) {
  return reinterpret_cast<T*>(word);
}

int integer(Word word) {
  return *pointer<const MPI_Fint>(word);
}

const int* integers(Word word) {
  return pointer<const int>(word);
}

#if defined(OPEN_MPI)
constinit LazyFunction<decltype(PMPI_Comm_f2c)> comm_f2c{"PMPI_Comm_f2c"};
constinit LazyFunction<decltype(PMPI_Comm_c2f)> comm_c2f{"PMPI_Comm_c2f"};
constinit LazyFunction<decltype(PMPI_Info_f2c)> info_f2c{"PMPI_Info_f2c"};
MPI_Comm comm_of(Word word) {
  return comm_f2c(integer(word));
}
MPI_Info info_of(Word word) {
  return info_f2c(integer(word));
}
MPI_Fint to_fortran(MPI_Comm comm) {
  return comm_c2f(comm);
}
#else
MPI_Comm comm_of(Word word) {
  return integer(word);
}
MPI_Info info_of(Word word) {
  return integer(word);
}
MPI_Fint to_fortran(MPI_Comm comm) {
  return comm;
}
#endif

/// Whether the argument is one of these Fortran variables, which act as constants by their address.
template <std::size_t N>
bool is_one_of(Word word, const std::array<const char*, N>& names) {
  for (const char* const name : names) {
    if (void* const symbol = find_symbol(name); symbol != nullptr && symbol == pointer<void>(word)) return true;
  }
  return false;
}

const int* weights_of(Word word) {
#if defined(OPEN_MPI)
  constexpr std::array none{"mpi_fortran_unweighted_", "mpi_fortran_unweighted", "mpi_fortran_unweighted__",
                            "MPI_FORTRAN_UNWEIGHTED"};
  constexpr std::array empty{"mpi_fortran_weights_empty_", "mpi_fortran_weights_empty", "mpi_fortran_weights_empty__",
                             "MPI_FORTRAN_WEIGHTS_EMPTY"};
#else
  constexpr std::array none{"__mpi_f08_link_constants_MOD_mpi_unweighted"};
  constexpr std::array empty{"__mpi_f08_link_constants_MOD_mpi_weights_empty"};
#endif
  if (is_one_of(word, none)) return unweighted();
  return is_one_of(word, empty) ? weights_empty() : integers(word);
}

bool should_reorder(Word reorder) {
  return integer(reorder) != 0 && is_enabled();
}

/// Sets the output arguments. The status argument is optional in mpi_f08.
void set_outputs(int status, MPI_Comm comm, Word created, Word error) {
  if (status == MPI_SUCCESS) *pointer<MPI_Fint>(created) = to_fortran(comm);
  if (error != 0) *pointer<MPI_Fint>(error) = status;
}

/// Of MPI_Init. The status argument is optional in mpi_f08.
void announce_if(Word error) {
  if (error == 0 || integer(error) == MPI_SUCCESS) announce();
}

void init(RealFunction& real, Word error) {
  real(error);
  announce_if(error);
}

void init_thread(RealFunction& real, Word required, Word provided, Word error) {
  real(required, provided, error);
  announce_if(error);
}

void cart(RealFunction& real, Word comm, Word ndims, Word dims, Word periods, Word reorder, Word created, Word error) {
  if (!should_reorder(reorder)) {
    real(comm, ndims, dims, periods, reorder, created, error);
    return;
  }
  MPI_Comm new_comm = record::comm_null();
  const int status = cart_create(comm_of(comm), integer(ndims), integers(dims), integers(periods), 1, &new_comm);
  set_outputs(status, new_comm, created, error);
}

void graph(RealFunction& real, Word comm, Word nodes, Word index, Word edges, Word reorder, Word created, Word error) {
  if (!should_reorder(reorder)) {
    real(comm, nodes, index, edges, reorder, created, error);
    return;
  }
  MPI_Comm new_comm = record::comm_null();
  const int status = graph_create(comm_of(comm), integer(nodes), integers(index), integers(edges), 1, &new_comm);
  set_outputs(status, new_comm, created, error);
}

void dist_graph(RealFunction& real, Word comm, Word n, Word sources, Word degrees, Word targets, Word weights,
                Word info, Word reorder, Word created, Word error) {
  if (!should_reorder(reorder)) {
    real(comm, n, sources, degrees, targets, weights, info, reorder, created, error);
    return;
  }
  MPI_Comm new_comm = record::comm_null();
  const int status = dist_graph_create(comm_of(comm), integer(n), integers(sources), integers(degrees),
                                       integers(targets), weights_of(weights), info_of(info), 1, &new_comm);
  set_outputs(status, new_comm, created, error);
}

void adjacent(RealFunction& real, Word comm, Word in, Word sources, Word in_weights, Word out, Word targets,
              Word out_weights, Word info, Word reorder, Word created, Word error) {
  if (!should_reorder(reorder)) {
    real(comm, in, sources, in_weights, out, targets, out_weights, info, reorder, created, error);
    return;
  }
  MPI_Comm new_comm = record::comm_null();
  const Adjacency mine{.indegree = integer(in),
                       .sources = integers(sources),
                       .in_weights = weights_of(in_weights),
                       .outdegree = integer(out),
                       .targets = integers(targets),
                       .out_weights = weights_of(out_weights)};
  const int status = dist_graph_create_adjacent(comm_of(comm), mine, info_of(info), 1, &new_comm);
  set_outputs(status, new_comm, created, error);
}

}  // namespace

#define RANKLOOM_ONE(identifier, symbol, real_symbol, call) \
  extern "C" void identifier(Word) asm(symbol);             \
  [[gnu::visibility("default")]] void identifier(Word a) {  \
    static constinit RealFunction real(real_symbol);        \
    call(real, a);                                          \
  }
#define RANKLOOM_THREE(identifier, symbol, real_symbol, call)              \
  extern "C" void identifier(Word, Word, Word) asm(symbol);                \
  [[gnu::visibility("default")]] void identifier(Word a, Word b, Word c) { \
    static constinit RealFunction real(real_symbol);                       \
    call(real, a, b, c);                                                   \
  }
#define RANKLOOM_SEVEN(identifier, symbol, real_symbol, call)                                              \
  extern "C" void identifier(Word, Word, Word, Word, Word, Word, Word) asm(symbol);                        \
  [[gnu::visibility("default")]] void identifier(Word a, Word b, Word c, Word d, Word e, Word f, Word g) { \
    static constinit RealFunction real(real_symbol);                                                       \
    call(real, a, b, c, d, e, f, g);                                                                       \
  }
#define RANKLOOM_TEN(identifier, symbol, real_symbol, call)                                                      \
  extern "C" void identifier(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) asm(symbol);            \
  [[gnu::visibility("default")]] void identifier(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, \
                                                 Word i, Word j) {                                               \
    static constinit RealFunction real(real_symbol);                                                             \
    call(real, a, b, c, d, e, f, g, h, i, j);                                                                    \
  }
#define RANKLOOM_ELEVEN(identifier, symbol, real_symbol, call)                                                   \
  extern "C" void identifier(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) asm(symbol);      \
  [[gnu::visibility("default")]] void identifier(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, \
                                                 Word i, Word j, Word k) {                                       \
    static constinit RealFunction real(real_symbol);                                                             \
    call(real, a, b, c, d, e, f, g, h, i, j, k);                                                                 \
  }

#if defined(OPEN_MPI)
#define RANKLOOM_NAMES(kind, identifier, lower, call)                     \
  kind(identifier##_one, "mpi_" lower "_", "pmpi_" lower "_", call)       \
      kind(identifier##_two, "mpi_" lower "__", "pmpi_" lower "__", call) \
          kind(identifier##_f08, "mpi_" lower "_f08_", "pmpi_" lower "_f08_", call)
#else
#define RANKLOOM_NAMES(kind, identifier, lower, call) \
  kind(identifier##_f08, "mpi_" lower "_f08_", "pmpir_" lower "_f08_", call)
#endif

RANKLOOM_NAMES(RANKLOOM_ONE, fortran_init, "init", init)
RANKLOOM_NAMES(RANKLOOM_THREE, fortran_init_thread, "init_thread", init_thread)
RANKLOOM_NAMES(RANKLOOM_SEVEN, fortran_cart_create, "cart_create", cart)
RANKLOOM_NAMES(RANKLOOM_SEVEN, fortran_graph_create, "graph_create", graph)
RANKLOOM_NAMES(RANKLOOM_TEN, fortran_dist_graph_create, "dist_graph_create", dist_graph)
RANKLOOM_NAMES(RANKLOOM_ELEVEN, fortran_dist_graph_create_adjacent, "dist_graph_create_adjacent", adjacent)

}  // namespace rankloom::reorder
