// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: messages and requests in the trace. A line is written when the program posts or starts a
// request, and a `wait` when an MPI call reports its completion. The source and tag of a receive with MPI_ANY_SOURCE or
// MPI_ANY_TAG are known then, and overwritten in its line.
#pragma once

#include <cstdint>

#include "rankloom/capture/record/pmpi/pmpi.hpp"
#include "rankloom/capture/record/recorder.hpp"
#include "rankloom/capture/record/tracing/trace.hpp"

namespace rankloom::record {

/// The arguments of a send or a receive.
struct Message {
  MPI_Comm comm;
  int partner;  ///< A rank of the communicator, MPI_PROC_NULL or MPI_ANY_SOURCE.
  int tag;
  std::uint64_t bytes;
};

void trace_send(const Message& message);
/// MPI_Bsend, which never waits for its receiver.
void trace_buffered_send(const Message& message);
void trace_receive(const Message& message, const MPI_Status* status);
void trace_sendrecv(const Message& out, const Message& in, const MPI_Status* status);

enum class Use : bool { once, persistent };
void trace_isend(const Message& message, Word request, Use use);
void trace_ireceive(const Message& message, Word request, Use use);
void trace_start(Word request);
void trace_cancel(Word request);
void trace_request_free(Word request);

/// MPI_Mprobe has matched a message, which MPI_Mrecv receives by its handle.
void trace_matched_probe(MPI_Comm comm, Word message, const MPI_Status* status);
void trace_matched_receive(Word message, std::uint64_t bytes);
void trace_matched_ireceive(Word message, std::uint64_t bytes, Word request);

/// Whether the status of the completed request is needed.
bool needs_status(Word request);
void trace_completed(Word request, const MPI_Status* status);

/// While it exists, the lines of this thread are deferred until the request of a nonblocking or persistent collective
/// completes. Collectives of a communicator are written in the order in which they were posted.
class DeferredCollective {
 public:
  DeferredCollective(Word request, Use use);
  ~DeferredCollective();
  DeferredCollective(const DeferredCollective&) = delete;
  DeferredCollective& operator=(const DeferredCollective&) = delete;

 private:
  Word request_;
  Use use_;
  TextBuffer text_;
};
/// Writes the collectives that were posted earlier on the same communicator. Call before the lines of a collective.
void begin_collective(Word communicator);

/// Prints once, on rank 0, what the trace does not contain.
void warn_not_traced(const char* what, bool& warned);

}  // namespace rankloom::record
