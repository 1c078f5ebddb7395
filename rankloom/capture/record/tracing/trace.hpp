// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: the trace of one rank in SimGrid 3.32's time-independent format: the actions of the rank in
// order, messages with world ranks and bytes, and the time between MPI calls as computation of a host of 1 Gflop/s (one
// operation per nanosecond).
#pragma once

#include <climits>
#include <cstdint>

#include "rankloom/capture/record/tracing/trace_file.hpp"

namespace rankloom::record {

/// The position of a line that may be overwritten later.
struct LinePosition {
  std::uint64_t offset = 0;
  std::size_t length = 0;
};

class Trace {
 public:
  static constexpr int any_source = -555;             ///< SimGrid's MPI_ANY_SOURCE.
  static constexpr int any_tag = -444;                ///< SimGrid's MPI_ANY_TAG.
  static constexpr std::uint64_t any_size = INT_MAX;  ///< The size of a receive that accepts any message.

  /// Begins a file in the directory that RANKLOOM_RECORD_TRACE names; if it is not set, nothing is traced.
  void open(int rank);
  /// Writes `finalize`.
  void close();
  bool is_open() const { return file_.is_open(); }

  // Time: the program computes between the end of a call and the beginning of the next one.
  void enter(std::uint64_t now);
  void leave();

  // Messages.
  LinePosition message(const char* action, int partner, int tag, std::uint64_t bytes);
  /// A receive from MPI_ANY_SOURCE or with MPI_ANY_TAG; resolve_wildcard() writes the actual source and tag later.
  LinePosition wildcard_receive(const char* action, int partner, int tag, std::uint64_t bytes);
  void resolve_wildcard(const LinePosition& receive, const char* action, int partner, int tag);
  /// Replaces the line of a cancelled message by a computation of 0 operations.
  void cancel_line(const LinePosition& line);
  void wait(int from, int to, int tag);

  // Collectives of MPI_COMM_WORLD.
  void barrier();
  void with_root(const char* action, std::uint64_t bytes, int amounts, bool computes, int root);
  void without_root(const char* action, std::uint64_t bytes, int amounts, bool computes);
  /// With a count for each rank.
  void allgatherv(std::uint64_t own, const std::uint64_t* received, int ranks);
  void reducescatter(const std::uint64_t* received, int ranks);

  /// Writes lines that were deferred.
  void write(const TextBuffer& text);

 private:
  friend class Line;
  LinePosition put(const char* from, std::size_t length);
  void write_compute();

  TraceFile file_;
  std::uint64_t call_end_ = 0;   // the tick at which the last call ended
  std::uint64_t unwritten_ = 0;  // nanoseconds of computation that are not written yet
  double nanoseconds_per_tick_ = 1;
  char rank_[16]{};
  std::size_t rank_length_ = 0;
};
extern Trace trace;

/// The buffer to which the lines of this thread go; nullptr: to the trace.
extern thread_local constinit TextBuffer* deferred_text __attribute__((tls_model("initial-exec")));

}  // namespace rankloom::record
