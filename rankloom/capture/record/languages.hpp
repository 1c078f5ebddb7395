// SPDX-License-Identifier: Apache-2.0
// capture/record: what the words of a call mean in each language: C, C with large counts (MPI_Send_c), Fortran.
#pragma once

#include "rankloom/capture/record/mpi.hpp"

namespace rankloom::record {

/// Handles are numbers in one MPI and addresses in the other.
template <class Handle>
Handle handle_from(Word word) {
  return (Handle)word;  // NOLINT
}

struct C {
  static int number(Word word) { return static_cast<int>(word); }
  static std::int64_t count(Word word) { return static_cast<int>(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const int*>(words)[at]; }
  static MPI_Datatype type(Word word) { return handle_from<MPI_Datatype>(word); }
  static MPI_Datatype type(Word words, int at) { return reinterpret_cast<const MPI_Datatype*>(words)[at]; }
  static MPI_Comm comm(Word word) { return handle_from<MPI_Comm>(word); }
  static MPI_Win window(Word word) { return handle_from<MPI_Win>(word); }
  static MPI_Op op(Word word) { return handle_from<MPI_Op>(word); }
  /// What tells requests apart.
  static Word request(Word words, int at = 0) {
    return (Word) reinterpret_cast<const MPI_Request*>(words)[at];  // NOLINT
  }
  static bool is_in_place(Word buffer) { return reinterpret_cast<const void*>(buffer) == MPI_IN_PLACE; }
};

struct LargeC : C {
  using C::count;
  static std::int64_t count(Word word) { return static_cast<std::int64_t>(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const MPI_Count*>(words)[at]; }
};

/// Everything comes by address. Only Open MPI's Fortran has to be heard itself, MPICH's calls C; of MPICH only those
/// functions of mpi_f08 that have no buffer come here.
struct Fortran {
  static int number(Word word) { return *reinterpret_cast<const MPI_Fint*>(word); }
  static std::int64_t count(Word word) { return number(word); }
  static std::int64_t count(Word words, int at) { return reinterpret_cast<const MPI_Fint*>(words)[at]; }
  static MPI_Datatype type(Word word) { return type(word, 0); }
  static MPI_Comm comm(Word word) { return convert<MPI_Comm>(comm_f2c, number(word)); }
  static MPI_Win window(Word word) { return convert<MPI_Win>(window_f2c, number(word)); }
  static MPI_Op op(Word word) { return convert<MPI_Op>(op_f2c, number(word)); }
  static MPI_Datatype type(Word words, int at) {
    return convert<MPI_Datatype>(type_f2c, reinterpret_cast<const MPI_Fint*>(words)[at]);
  }
  static Word request(Word words, int at = 0) {
    return (Word)convert<MPI_Request>(request_f2c, reinterpret_cast<const MPI_Fint*>(words)[at]);  // NOLINT
  }
  static bool is_in_place(Word buffer) {
    static const Word here = reinterpret_cast<Word>(find_symbol("mpi_fortran_in_place_"));
    return here != 0 && buffer == here;
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
  static constinit inline Function<decltype(PMPI_Comm_f2c)> comm_f2c{"PMPI_Comm_f2c"};
  static constinit inline Function<decltype(PMPI_Type_f2c)> type_f2c{"PMPI_Type_f2c"};
  static constinit inline Function<decltype(PMPI_Win_f2c)> window_f2c{"PMPI_Win_f2c"};
  static constinit inline Function<decltype(PMPI_Op_f2c)> op_f2c{"PMPI_Op_f2c"};
  static constinit inline Function<decltype(PMPI_Request_f2c)> request_f2c{"PMPI_Request_f2c"};
#else
  static constexpr int comm_f2c = 0, type_f2c = 0, window_f2c = 0, op_f2c = 0, request_f2c = 0;
#endif
};

}  // namespace rankloom::record
