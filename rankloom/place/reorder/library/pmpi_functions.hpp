// SPDX-License-Identifier: Apache-2.0
// place/reorder: the PMPI functions that the library calls. They are looked up on first use, as in the recorder,
// because the library is not linked with MPI.
#pragma once

#include "rankloom/capture/record/pmpi/language_bindings.hpp"
#include "rankloom/capture/record/pmpi/pmpi.hpp"

namespace rankloom::reorder {

using record::find_symbol;
using record::handle_from;
using record::LazyFunction;
using record::RealFunction;
using record::Word;

namespace pmpi {
#define RANKLOOM_PMPI(name)                                   \
  inline constinit LazyFunction<decltype(PMPI_##name)> name { \
    "PMPI_" #name                                             \
  }
RANKLOOM_PMPI(Bcast);
RANKLOOM_PMPI(Cart_create);
RANKLOOM_PMPI(Comm_free);
RANKLOOM_PMPI(Comm_rank);
RANKLOOM_PMPI(Comm_size);
RANKLOOM_PMPI(Comm_split);
RANKLOOM_PMPI(Comm_test_inter);
RANKLOOM_PMPI(Dist_graph_create);
RANKLOOM_PMPI(Dist_graph_create_adjacent);
RANKLOOM_PMPI(Gather);
RANKLOOM_PMPI(Gatherv);
RANKLOOM_PMPI(Get_library_version);
RANKLOOM_PMPI(Graph_create);
RANKLOOM_PMPI(Scatter);
RANKLOOM_PMPI(Scatterv);
RANKLOOM_PMPI(Sendrecv);
#undef RANKLOOM_PMPI
}  // namespace pmpi

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are constants in Open MPI and in the ABI of MPI 5, and variables in MPICH.
#if defined(OPEN_MPI) || defined(RANKLOOM_MPI_ABI)
inline int* unweighted() {
  return MPI_UNWEIGHTED;
}
inline int* weights_empty() {
  return MPI_WEIGHTS_EMPTY;
}
#else
inline int* weights_variable(const char* name) {
  void* const symbol = find_symbol(name);
  return symbol != nullptr ? *static_cast<int**>(symbol) : nullptr;
}
inline int* unweighted() {
  return weights_variable("MPI_UNWEIGHTED");
}
inline int* weights_empty() {
  return weights_variable("MPI_WEIGHTS_EMPTY");
}
#endif
inline bool has_weights(const int* weights) {
  return weights != nullptr && weights != unweighted() && weights != weights_empty();
}

}  // namespace rankloom::reorder
