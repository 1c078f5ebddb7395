// SPDX-License-Identifier: Apache-2.0
// capture/record: the state of the recorder in one process: whether it is active, the counters, and the lock and the
// reentrancy guard around them.
#pragma once

#include <atomic>
#include <cstdint>

#include "rankloom/capture/record/counting/counters.hpp"
#include "rankloom/capture/record/pmpi/pmpi.hpp"

namespace rankloom::record {

enum class State : int {
  unknown,  ///< MPI is not initialised: before MPI_Init, or between two sessions.
  on,
  off,  ///< For the rest of the process: another MPI library, no memory, or MPI_Finalize.
};

struct Recorder {
  std::atomic<State> state{State::unknown};
  bool threaded = false;    ///< MPI_THREAD_MULTIPLE or sessions: several threads may call MPI at the same time.
  std::atomic_flag locked;  ///< Held by a CounterLock, if threaded.
  bool errors_may_return =
      true;  ///< MPI_COMM_WORLD has an error handler that returns, so every return code is checked.
  int rank = 0, ranks = 0;
  MPI_Comm world{};
  MPI_Group world_group{};
  Counters counters;
};
extern Recorder recorder;

/// Starts to record if MPI is initialised. Returns whether the recorder is on.
bool begin();
/// Completes the record of this rank. Called by the wrapper of MPI_Finalize, before PMPI_Finalize.
void finish();
/// The program calls MPI_Abort, possibly from a signal handler that interrupted the recorder.
void record_abort();
#if defined(RANKLOOM_SESSIONS)
/// The program has created a session, and is about to finalize one. Programs with sessions need not call MPI_Init.
void begin_session(MPI_Session session);
void finish_session();
#endif
/// The program sets an error handler.
void expect_returned_errors();

/// Depth of nested MPI calls in this thread. Only calls at depth 0 are calls of the program; deeper ones are made by
/// the MPI library itself.
extern thread_local constinit int reentrancy_depth __attribute__((tls_model("initial-exec")));

/// Whether calls are counted now.
[[gnu::always_inline]] inline bool is_on() {
  // Relaxed: threads that call MPI before the state is set synchronise in begin().
  const State state = recorder.state.load(std::memory_order_relaxed);
  if (state == State::on) [[likely]]
    return true;
  return state == State::unknown && begin();
}

/// Around PMPI calls in which the MPI library may call wrapped functions itself.
class ReentrancyGuard {
 public:
  ReentrancyGuard() { ++reentrancy_depth; }
  ~ReentrancyGuard() { --reentrancy_depth; }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;
};

template <class Function>
int guarded(const Function& function) {
  const ReentrancyGuard guard;
  return function();
}

/// Around every access to the counters and to the tables of communicators and requests.
class CounterLock {
 public:
  CounterLock() {
    if (recorder.threaded) acquire();
  }
  ~CounterLock() { release(); }
  /// For signal handlers: the interrupted thread may hold the lock. Gives up after a short time.
  static bool acquire_unless_held();
  static void release();
  CounterLock(const CounterLock&) = delete;
  CounterLock& operator=(const CounterLock&) = delete;

 private:
  static void acquire();
};

}  // namespace rankloom::record
