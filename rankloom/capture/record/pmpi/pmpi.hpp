// SPDX-License-Identifier: Apache-2.0
// capture/record/pmpi: the PMPI functions of the MPI library that the program uses, resolved at their first call. The
// recorder is not linked with an MPI library: it must load into any program, including programs that load MPI later
// with dlopen(RTLD_LOCAL).
#pragma once

#include <atomic>
#include <cstdint>

#include <mpi.h>

/// Open MPI 5 has the sessions of MPI 4, although its MPI_VERSION is 3.
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define RANKLOOM_SESSIONS
#endif

namespace rankloom::record {

/// An argument of any MPI function: an integer, a handle or an address. Wrappers pass arguments on unchanged, whether
/// the MPI library represents handles as integers or as pointers.
using Word = std::uintptr_t;

/// A symbol of any loaded MPI library; nullptr: not found.
void* find_symbol(const char* name);

/// A function that is resolved at its first call.
template <class Signature>
class LazyFunction {
 public:
  constexpr explicit LazyFunction(const char* name) : name_(name) {}

  Signature* get() {
    void* address = address_.load(std::memory_order_relaxed);
    if (address == nullptr) [[unlikely]] {
      address = find_symbol(name_);
      address_.store(address, std::memory_order_relaxed);
    }
    return reinterpret_cast<Signature*>(address);
  }
  Signature* resolved() const { return reinterpret_cast<Signature*>(address_.load(std::memory_order_relaxed)); }
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

/// The PMPI function that a wrapper calls. Every argument is a Word.
class RealFunction {
 public:
  constexpr explicit RealFunction(const char* name) : function_(name) {}
  template <class... Words>
  int operator()(Words... words) {
    auto* const function = function_.get();
    constexpr int no_such_function = 16;  // MPI_ERR_OTHER in Open MPI, in MPICH and in the ABI of MPI 5
    if (function == nullptr) return no_such_function;
    return reinterpret_cast<int (*)(Words...)>(function)(words...);
  }

  /// Requires an earlier call, which has resolved the function.
  template <class... Words>
  [[gnu::always_inline]] int call_resolved(Words... words) {
    return reinterpret_cast<int (*)(Words...)>(function_.resolved())(words...);
  }

 private:
  LazyFunction<void()> function_;
};

namespace pmpi {
#define RANKLOOM_PMPI(name)                                   \
  inline constinit LazyFunction<decltype(PMPI_##name)> name { \
    "PMPI_" #name                                             \
  }
#if defined(RANKLOOM_MPI_ABI)
RANKLOOM_PMPI(Abi_get_version);
#endif
RANKLOOM_PMPI(Barrier);
RANKLOOM_PMPI(Cart_get);
RANKLOOM_PMPI(Cart_shift);
RANKLOOM_PMPI(Cartdim_get);
RANKLOOM_PMPI(Comm_create_keyval);
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
RANKLOOM_PMPI(Get_library_version);
RANKLOOM_PMPI(Graph_neighbors);
RANKLOOM_PMPI(Graph_neighbors_count);
RANKLOOM_PMPI(Group_compare);
RANKLOOM_PMPI(Group_free);
#if defined(RANKLOOM_SESSIONS)
RANKLOOM_PMPI(Group_from_session_pset);
#endif
RANKLOOM_PMPI(Group_rank);
RANKLOOM_PMPI(Group_size);
RANKLOOM_PMPI(Group_translate_ranks);
RANKLOOM_PMPI(Initialized);
RANKLOOM_PMPI(Query_thread);
RANKLOOM_PMPI(Test_cancelled);
RANKLOOM_PMPI(Topo_test);
RANKLOOM_PMPI(Type_get_envelope);
RANKLOOM_PMPI(Win_create_keyval);
RANKLOOM_PMPI(Win_get_group);
RANKLOOM_PMPI(Win_set_attr);
#undef RANKLOOM_PMPI

/// MPI_Type_size with an MPI_Count. MPI_Type_size_x is deprecated in MPI 4.1, MPI_Type_size_c came with MPI 4. Which of
/// them exists depends on the library of the program, not on the header: a recorder that was built for MPICH 4 is also
/// loaded into programs of MPICH 3.
inline constinit LazyFunction<int(MPI_Datatype, MPI_Count*)> Type_size_x{"PMPI_Type_size_x"};
inline constinit LazyFunction<int(MPI_Datatype, MPI_Count*)> Type_size_c{"PMPI_Type_size_c"};
inline int Type_size(MPI_Datatype type, MPI_Count* size) {
  return Type_size_x.get() != nullptr ? Type_size_x(type, size) : Type_size_c(type, size);
}
}  // namespace pmpi

// Predefined handles. In Open MPI they are addresses inside its library, in MPICH and in the ABI of MPI 5 constants.
#if defined(OPEN_MPI)
#define RANKLOOM_HANDLE(type, name, symbol)              \
  inline type name() {                                   \
    return reinterpret_cast<type>(find_symbol(#symbol)); \
  }
RANKLOOM_HANDLE(MPI_Comm, comm_world, ompi_mpi_comm_world)
RANKLOOM_HANDLE(MPI_Comm, comm_null, ompi_mpi_comm_null)
RANKLOOM_HANDLE(MPI_Datatype, type_byte, ompi_mpi_byte)
RANKLOOM_HANDLE(MPI_Op, op_no_op, ompi_mpi_op_no_op)
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
inline MPI_Op op_no_op() {
  return MPI_NO_OP;
}
inline MPI_Errhandler errors_are_fatal_handler() {
  return MPI_ERRORS_ARE_FATAL;
}
#endif

}  // namespace rankloom::record
