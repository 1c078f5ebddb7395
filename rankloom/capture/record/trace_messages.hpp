// SPDX-License-Identifier: Apache-2.0
// capture/record: messages and requests in the trace. A line is written when a request is posted or started, and a wait
// when the program learns that it is complete; who a message came from, if it could come from anybody, is told then.
#pragma once

#include <cstdint>

#include "rankloom/capture/record/mpi.hpp"
#include "rankloom/capture/record/recorder.hpp"
#include "rankloom/capture/record/trace.hpp"

namespace rankloom::record {

/// A message as one side of it sees it.
struct Message {
  MPI_Comm comm;
  int partner;  ///< A rank of the communicator, or MPI_PROC_NULL, or MPI_ANY_SOURCE.
  int tag;
  std::uint64_t bytes;
};

void trace_send(const Message& message);
/// A send that never waits for its receiver.
void trace_buffered_send(const Message& message);
void trace_receive(const Message& message, const MPI_Status* status);
void trace_exchange(const Message& out, const Message& in, const MPI_Status* status);

enum class Use : bool { once, persistent };
void trace_isend(const Message& message, Word request, Use use);
void trace_ireceive(const Message& message, Word request, Use use);
void trace_start(Word request);
void trace_cancel(Word request);
void trace_forget(Word request);

/// A message that was found, and will be received by its handle.
void trace_found(MPI_Comm comm, Word message, const MPI_Status* status);
void trace_found_receive(Word message, std::uint64_t bytes);
void trace_found_ireceive(Word message, std::uint64_t bytes, Word request);

/// Whether the completion of this request must come with a status.
bool needs_status(Word request);
void trace_completed(Word request, const MPI_Status* status);

/// From here to its end, this thread's lines become what the request of a collective stands for. They are written when
/// it is complete, and in the order in which collectives were posted on a communicator.
class Deferred {
 public:
  Deferred(Word request, Use use);
  ~Deferred();
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

 private:
  Word request_;
  Use use_;
  Text text_;
};
/// Before the lines of a collective: those that were posted before it on the same communicator.
void begin_collective(Word communicator);

/// Says once what the trace does not tell.
void leave_out(const char* what, bool& said);

}  // namespace rankloom::record
