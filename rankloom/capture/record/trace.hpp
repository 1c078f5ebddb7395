// SPDX-License-Identifier: Apache-2.0
// capture/record: a trace of what this rank does, in the order in which it does it, as SimGrid 3.32 replays it (its
// time-independent format): messages in ranks of the world and in bytes, and the time between calls as the work of a
// machine that does one operation in a nanosecond.
#pragma once

#include <climits>
#include <cstdint>

#include "rankloom/capture/record/trace_file.hpp"

namespace rankloom::record {

/// A line of the trace that may have to be mended.
struct Place {
  std::uint64_t at = 0;
  std::size_t length = 0;
};

class Trace {
 public:
  static constexpr int from_anybody = -555;  ///< As SimGrid writes them.
  static constexpr int with_any_tag = -444;
  static constexpr std::uint64_t any_size = INT_MAX;  ///< What a receive says that takes whatever comes.

  /// Into the folder that RANKLOOM_RECORD_TRACE names; without it, nothing is traced.
  void open(int rank);
  /// The rank does nothing more.
  void close();
  bool is_open() const { return file_.is_open(); }

  // The clock: from the end of a call to the beginning of the next one, the program works.
  void enter(std::uint64_t now);
  void leave();

  // Messages.
  Place message(const char* action, int partner, int tag, std::uint64_t bytes);
  /// A receive whose partner and tag can be told later.
  Place open_receive(const char* action, int partner, int tag, std::uint64_t bytes);
  void tell_partner(const Place& receive, const char* action, int partner, int tag);
  /// What was never sent or received.
  void cross_out(const Place& line);
  void wait(int from, int to, int tag);

  // Collectives of all ranks.
  void barrier();
  void with_root(const char* action, std::uint64_t bytes, int amounts, bool works, int root);
  void without_root(const char* action, std::uint64_t bytes, int amounts, bool works);
  /// Amounts of its own for each rank.
  void allgatherv(std::uint64_t own, const std::uint64_t* received, int ranks);
  void reducescatter(const std::uint64_t* received, int ranks);

  /// Lines that were made before.
  void write(const Text& text);

 private:
  friend class Line;
  Place put(const char* from, std::size_t length);
  void tell_work();

  TraceFile file_;
  std::uint64_t left_ = 0;     // the tick at which the last call ended
  std::uint64_t outside_ = 0;  // nanoseconds of work that no line tells yet
  double nanoseconds_per_tick_ = 1;
  char rank_[16]{};
  std::size_t rank_length_ = 0;
};
extern Trace trace;

/// Where the lines of this thread go instead; nullptr: into the trace.
extern thread_local constinit Text* making __attribute__((tls_model("initial-exec")));

}  // namespace rankloom::record
