// SPDX-License-Identifier: Apache-2.0
// capture/record/pmpi: decodes the arguments of an MPI call in each language binding: C, C with large counts
// (MPI_Send_c), Fortran, Fortran with array descriptors, Fortran with large counts.
#pragma once

#include "rankloom/capture/record/pmpi/pmpi.hpp"

namespace rankloom::record {

/// Handles are integers in MPICH and pointers in Open MPI and in the ABI of MPI 5.
template <class Handle>
Handle handle_from(Word word) {
  return (Handle)word;  // NOLINT
}

struct C {
  static int number(Word word) { return static_cast<int>(word); }
  static std::int64_t count(Word word) { return static_cast<int>(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const int*>(words)[at]; }
  /// An argument that is an MPI_Count in every binding.
  static std::int64_t large_count(Word word) { return static_cast<std::int64_t>(word); }
  static MPI_Datatype datatype(Word word) { return handle_from<MPI_Datatype>(word); }
  static MPI_Datatype datatype(Word words, int at) { return reinterpret_cast<const MPI_Datatype*>(words)[at]; }
  static MPI_Comm comm(Word word) { return handle_from<MPI_Comm>(word); }
  static MPI_Win win(Word word) { return handle_from<MPI_Win>(word); }
  static MPI_Op op(Word word) { return handle_from<MPI_Op>(word); }
  /// The request handle as a hash key.
  static Word request(Word words, int at = 0) {
    return (Word) reinterpret_cast<const MPI_Request*>(words)[at];  // NOLINT
  }
  static bool is_in_place(Word buffer) { return reinterpret_cast<const void*>(buffer) == MPI_IN_PLACE; }
#if defined(RANKLOOM_SESSIONS)
  static MPI_Session session(Word word) {
    return *reinterpret_cast<const MPI_Session*>(word);
  }
#endif
  static bool succeeded(int outcome, Word) {
    return outcome == MPI_SUCCESS;
  }
};

struct LargeC : C {
  using C::count;
  static std::int64_t count(Word word) { return static_cast<std::int64_t>(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const MPI_Count*>(words)[at]; }
};

#if defined(RANKLOOM_MPI_ABI)
/// A library with the ABI of MPI 5 has C functions only; Fortran bindings call these.
struct Fortran {};
#else
/// Arguments are passed by address. Open MPI's Fortran functions are wrapped themselves. Those of MPICH call the C
/// functions, which are wrapped; only the functions of mpi_f08 without a buffer call PMPI and are wrapped here.
struct Fortran {
  static int number(Word word) { return *reinterpret_cast<const MPI_Fint*>(word); }
  static std::int64_t count(Word word) { return number(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const MPI_Fint*>(words)[at]; }
  static std::int64_t large_count(Word word) { return *reinterpret_cast<const MPI_Count*>(word); }
  static MPI_Datatype datatype(Word word) { return datatype(word, 0); }
  static MPI_Comm comm(Word word) { return convert<MPI_Comm>(comm_f2c, number(word)); }
  static MPI_Win win(Word word) { return convert<MPI_Win>(win_f2c, number(word)); }
  static MPI_Op op(Word word) { return convert<MPI_Op>(op_f2c, number(word)); }
  static MPI_Datatype datatype(Word words, int at) {
    return convert<MPI_Datatype>(datatype_f2c, reinterpret_cast<const MPI_Fint*>(words)[at]);
  }
  static Word request(Word words, int at = 0) {
    return (Word)convert<MPI_Request>(request_f2c, reinterpret_cast<const MPI_Fint*>(words)[at]);  // NOLINT
  }
  static bool is_in_place(Word buffer) {
    static const Word in_place = reinterpret_cast<Word>(find_symbol("mpi_fortran_in_place_"));
    return in_place != 0 && buffer == in_place;
  }
#if defined(RANKLOOM_SESSIONS)
  static MPI_Session session(Word word) {
    return convert<MPI_Session>(session_f2c, number(word));
  }
#endif
  /// The error code is an optional argument in mpi_f08.
  static bool succeeded(int, Word ierror) {
    return ierror == 0 || number(ierror) == MPI_SUCCESS;
  }

 private:
  template <class Handle, class Converter>
  static Handle convert([[maybe_unused]] Converter& converter, MPI_Fint number) {
#if defined(OPEN_MPI)
    return converter(number);
#else
    return static_cast<Handle>(number);
#endif
  }
#if defined(OPEN_MPI)
  static constinit inline LazyFunction<decltype(PMPI_Comm_f2c)> comm_f2c{"PMPI_Comm_f2c"};
  static constinit inline LazyFunction<decltype(PMPI_Type_f2c)> datatype_f2c{"PMPI_Type_f2c"};
  static constinit inline LazyFunction<decltype(PMPI_Win_f2c)> win_f2c{"PMPI_Win_f2c"};
  static constinit inline LazyFunction<decltype(PMPI_Op_f2c)> op_f2c{"PMPI_Op_f2c"};
  static constinit inline LazyFunction<decltype(PMPI_Request_f2c)> request_f2c{"PMPI_Request_f2c"};
#if defined(RANKLOOM_SESSIONS)
  static constinit inline LazyFunction<decltype(PMPI_Session_f2c)> session_f2c{"PMPI_Session_f2c"};
#endif
#else
  static constexpr int comm_f2c = 0, datatype_f2c = 0, win_f2c = 0, op_f2c = 0, request_f2c = 0, session_f2c = 0;
#endif
};

/// The functions of mpi_f08 in Open MPI 6 (mpi_send_f08ts_): a buffer is passed as the descriptor of an array, whose
/// first word is the address of its elements.
struct FortranDescriptors : Fortran {
  static bool is_in_place(Word buffer) { return Fortran::is_in_place(*reinterpret_cast<const Word*>(buffer)); }
};

/// The same with large counts (mpi_send_c_f08ts_).
struct LargeFortran : FortranDescriptors {
  static std::int64_t count(Word word) { return *reinterpret_cast<const MPI_Count*>(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const MPI_Count*>(words)[at]; }
};
#endif

}  // namespace rankloom::record
