// SPDX-License-Identifier: Apache-2.0
// capture/record: the MPI of the program, found when it is needed. The library is linked with no MPI: it must load into
// any program, and into those that load their MPI later and for themselves alone.
#pragma once

#include <atomic>
#include <cstdint>

#include <mpi.h>

namespace rankloom::record {

/// An argument of any function of MPI: a number, a handle or an address. Arguments go through wrappers as they came,
/// whatever the program's MPI takes a handle to be.
using Word = std::uintptr_t;

/// A symbol of the program's MPI, wherever it is; nullptr: there is none.
void* find_symbol(const char* name);

/// A function that is looked up at its first call.
template <class Signature>
class Function {
 public:
  constexpr explicit Function(const char* name) : name_(name) {}

  Signature* get() {
    void* address = address_.load(std::memory_order_relaxed);
    if (address == nullptr) [[unlikely]] {
      address = find_symbol(name_);
      address_.store(address, std::memory_order_relaxed);
    }
    return reinterpret_cast<Signature*>(address);
  }
  Signature* known() const { return reinterpret_cast<Signature*>(address_.load(std::memory_order_relaxed)); }
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

/// What a wrapper calls in the end: every argument is a word.
class Real {
 public:
  constexpr explicit Real(const char* name) : function_(name) {}
  template <class... Words>
  int operator()(Words... words) {
    auto* const function = function_.get();
    constexpr int no_such_function = 16;  // MPI_ERR_OTHER in both
    if (function == nullptr) return no_such_function;
    return reinterpret_cast<int (*)(Words...)>(function)(words...);
  }

  /// When it has been called before.
  template <class... Words>
  [[gnu::always_inline]] int again(Words... words) {
    return reinterpret_cast<int (*)(Words...)>(function_.known())(words...);
  }

 private:
  Function<void()> function_;
};

namespace pmpi {
#define RANKLOOM_PMPI(name)                               \
  inline constinit Function<decltype(PMPI_##name)> name { \
    "PMPI_" #name                                         \
  }
RANKLOOM_PMPI(Barrier);
RANKLOOM_PMPI(Bcast);
RANKLOOM_PMPI(Cart_get);
RANKLOOM_PMPI(Cart_shift);
RANKLOOM_PMPI(Cartdim_get);
RANKLOOM_PMPI(Comm_create_keyval);
RANKLOOM_PMPI(Comm_dup);
RANKLOOM_PMPI(Comm_free);
RANKLOOM_PMPI(Comm_get_errhandler);
RANKLOOM_PMPI(Comm_get_parent);
RANKLOOM_PMPI(Comm_group);
RANKLOOM_PMPI(Comm_rank);
RANKLOOM_PMPI(Comm_remote_group);
RANKLOOM_PMPI(Comm_set_attr);
RANKLOOM_PMPI(Comm_size);
RANKLOOM_PMPI(Comm_test_inter);
RANKLOOM_PMPI(Dist_graph_neighbors);
RANKLOOM_PMPI(Dist_graph_neighbors_count);
RANKLOOM_PMPI(Errhandler_free);
RANKLOOM_PMPI(Finalized);
RANKLOOM_PMPI(Gather);
RANKLOOM_PMPI(Get_library_version);
RANKLOOM_PMPI(Graph_neighbors);
RANKLOOM_PMPI(Graph_neighbors_count);
RANKLOOM_PMPI(Group_compare);
RANKLOOM_PMPI(Group_free);
RANKLOOM_PMPI(Group_size);
RANKLOOM_PMPI(Group_translate_ranks);
RANKLOOM_PMPI(Initialized);
RANKLOOM_PMPI(Query_thread);
RANKLOOM_PMPI(Recv);
RANKLOOM_PMPI(Send);
RANKLOOM_PMPI(Test_cancelled);
RANKLOOM_PMPI(Topo_test);
RANKLOOM_PMPI(Type_get_envelope);
RANKLOOM_PMPI(Type_size_x);
RANKLOOM_PMPI(Win_create_keyval);
RANKLOOM_PMPI(Win_get_group);
RANKLOOM_PMPI(Win_set_attr);
#undef RANKLOOM_PMPI
}  // namespace pmpi

// Handles that stand for themselves. Open MPI's are addresses inside its library.
#if defined(OPEN_MPI)
#define RANKLOOM_HANDLE(type, name, symbol)              \
  inline type name() {                                   \
    return reinterpret_cast<type>(find_symbol(#symbol)); \
  }
RANKLOOM_HANDLE(MPI_Comm, comm_world, ompi_mpi_comm_world)
RANKLOOM_HANDLE(MPI_Comm, comm_null, ompi_mpi_comm_null)
RANKLOOM_HANDLE(MPI_Datatype, type_byte, ompi_mpi_byte)
RANKLOOM_HANDLE(MPI_Op, op_none, ompi_mpi_op_no_op)
RANKLOOM_HANDLE(MPI_Errhandler, errors_are_fatal_handler, ompi_mpi_errors_are_fatal)
#undef RANKLOOM_HANDLE
#else
inline MPI_Comm comm_world() {
  return MPI_COMM_WORLD;
}
inline MPI_Comm comm_null() {
  return MPI_COMM_NULL;
}
inline MPI_Datatype type_byte() {
  return MPI_BYTE;
}
inline MPI_Op op_none() {
  return MPI_NO_OP;
}
inline MPI_Errhandler errors_are_fatal_handler() {
  return MPI_ERRORS_ARE_FATAL;
}
#endif

}  // namespace rankloom::record
