// SPDX-License-Identifier: Apache-2.0
// capture/record: the recorder inside one process: when it is on, what it counts into, and the guard around each call.
#pragma once

#include <atomic>
#include <cstdint>

#include "rankloom/capture/record/clock.hpp"
#include "rankloom/capture/record/counters.hpp"
#include "rankloom/capture/record/mpi.hpp"

namespace rankloom::record {

enum class State : int {
  unknown,  ///< MPI does not run yet.
  on,
  off,  ///< Never again in this process: another MPI, no memory, or the end.
};

struct Recorder {
  std::atomic<State> state{State::unknown};
  bool threaded = false;  ///< Several threads may call MPI at once.
  std::atomic_flag busy;  ///< Held while counting, if threaded.
  int rank = 0, ranks = 0;
  MPI_Comm world{};
  MPI_Group world_group{};
  Counters counters;
};
extern Recorder recorder;

/// Begins if MPI runs. Whether the recorder is on.
bool begin();
/// Everything that was counted goes to rank 0 and into one file. Before MPI ends.
void finish();
/// The program says that it will end.
void abandon();

/// Calls of MPI by MPI itself are not the program's.
extern thread_local constinit int depth __attribute__((tls_model("initial-exec")));

/// Around each call: times it, and says whether it is to be counted.
class Call {
 public:
  Call() : counts_(depth++ == 0 && is_on()) {
    if (!counts_) return;
    begin_ = ticks();
    if (begin_ >= recorder.counters.phase_ends()) [[unlikely]] change_phase();
  }
  ~Call() {
    --depth;
    if (counts_ && recorder.state.load(std::memory_order_relaxed) == State::on) spend(ticks());
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool counts() const { return counts_; }
  std::uint64_t begin() const { return begin_; }

 private:
  static bool is_on() {
    const State state = recorder.state.load(std::memory_order_acquire);
    if (state == State::on) [[likely]] return true;
    return state == State::unknown && record::begin();
  }
  void change_phase() const;
  void spend(std::uint64_t now) const;

  bool counts_;
  std::uint64_t begin_ = 0;
};

/// Around what is counted.
class Turn {
 public:
  Turn() {
    if (recorder.threaded) wait();
  }
  ~Turn() {
    if (recorder.threaded) recorder.busy.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static void wait();
};

inline void Call::spend(std::uint64_t now) const {
  const Turn turn;
  recorder.counters.spend(begin_, now);
}

}  // namespace rankloom::record
