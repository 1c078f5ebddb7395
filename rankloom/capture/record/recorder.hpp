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

/// Which calls of one function are timed. Reading the clock twice can take longer than a short call: of calls that are
/// short, a quarter is timed, picked at random, and counts four times, which is right in the mean. After a long one, all
/// are.
class Pace {
 public:
  /// What the time of this call is to be multiplied with; 0: it is not timed.
  std::uint32_t weight() {
    if (eager_ > 0) return 1;
    random_ = random_ * 1664525 + 1013904223;
    return random_ >> 30 == 0 ? 4 : 0;
  }
  void learn(std::uint64_t duration) {
    constexpr std::uint64_t long_call = 2000;  // ticks: one or two microseconds where it matters
    constexpr std::uint32_t patience = 16;
    eager_ = duration > long_call ? patience : eager_ > 0 ? eager_ - 1 : 0;
  }

 private:
  // Threads that call the same function at once may disturb each other's; that only changes who is timed.
  std::uint32_t random_ = 1;
  std::uint32_t eager_ = 16;
};

/// Around each call: times it, and says whether it is to be counted.
class Call {
 public:
  [[gnu::always_inline]] explicit Call(Pace& pace) : counts_(depth++ == 0 && is_on()), pace_(pace) {
    if (!counts_) return;
    weight_ = pace.weight();
    if (weight_ == 0) return;
    begin_ = ticks();
    if (begin_ >= recorder.counters.phase_ends()) [[unlikely]] change_phase();
  }
  [[gnu::always_inline]] ~Call() {
    --depth;
    if (weight_ != 0) spend();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool counts() const { return counts_; }

 private:
  static bool is_on() {
    // Relaxed: waiting for the stores of MPI itself would take longer than all else here. Threads that could come in
    // before the state was set take turns anyway.
    const State state = recorder.state.load(std::memory_order_relaxed);
    if (state == State::on) [[likely]]
      return true;
    return state == State::unknown && record::begin();
  }
  void change_phase() const;
  void spend() const;

  bool counts_;
  std::uint32_t weight_ = 0;
  Pace& pace_;
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

}  // namespace rankloom::record
