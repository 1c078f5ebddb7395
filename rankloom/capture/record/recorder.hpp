// SPDX-License-Identifier: Apache-2.0
// capture/record: the recorder inside one process: when it is on, what it counts into, and the guard around each call.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
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
  bool may_fail = true;  ///< Messages of the world that MPI refuses come back, so what they return has to be looked at.
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
/// The program handles errors itself from now on.
void expect_failures();

#if defined(RANKLOOM_TRACE)
constexpr bool is_tracing = true;
#else
constexpr bool is_tracing = false;
#endif

/// Calls of MPI by MPI itself are not the program's.
extern thread_local constinit int depth __attribute__((tls_model("initial-exec")));

/// Which calls of one function are timed. Reading the clock twice costs some 50 ns, right where another rank may wait
/// for this one: calls are timed at random distances, so rarely that it costs a two-hundredth of them, at most one in
/// 32, and count as often, which is right in the mean. One in 256, when all have been short for long. Long calls are
/// timed each, and those that follow a long one; for a trace, all are.
class Pace {
 public:
  /// Whether the next call is timed.
  bool is_due() const { return left_ <= 1; }
  void skip() { --left_; }
  /// What the time of this call is to be multiplied with; 0: it is not timed.
  std::uint32_t weight() { return --left_ > 0 ? 0 : weight_; }
  void learn(std::uint64_t duration) {
    constexpr std::uint32_t most = 32, rare = 256, long_since = 64;
    const std::uint64_t long_call = rough_ticks(10'000);
    typical_ += (std::min(duration, 64 * long_call) >> 2) - (typical_ >> 2);
    const auto shift = static_cast<int>(std::bit_width(long_call)) - static_cast<int>(std::bit_width(typical_));
    std::uint32_t mean = is_tracing || shift <= 0 ? 1 : shift < 5 ? 1U << shift : most;
    calm_ = mean < most ? 0 : calm_ < long_since ? calm_ + 1 : calm_;
    // Windows of time end at calls that are timed, so those must not become rare.
    if (calm_ == long_since && recorder.counters.phase_ends() == UINT64_MAX) mean = rare;
    random_ = random_ * 1664525 + 1013904223;
    weight_ = mean;
    left_ = static_cast<std::int32_t>(1 + ((random_ >> 16) * (2 * mean - 1) >> 16));  // that many in the mean
  }

 private:
  // Threads that call the same function at once may disturb each other's; that only changes who is timed.
  std::int32_t left_ = 1;
  std::uint32_t weight_ = 1;
  std::uint32_t random_ = 1;
  std::uint32_t calm_ = 0;                     // so many were short in a row
  std::uint64_t typical_ = UINT64_C(1) << 32;  // ticks of the latest calls; the first ones are timed each
};

/// Whether calls are counted now.
[[gnu::always_inline]] inline bool is_on() {
  // Relaxed: threads that could come in before the state was set take turns anyway.
  const State state = recorder.state.load(std::memory_order_relaxed);
  if (state == State::on) [[likely]]
    return true;
  return state == State::unknown && begin();
}

/// Around each call: times it, and says whether it is to be counted.
class Call {
 public:
  /// A call of a function that MPI may call itself, by a name that is wrapped.
  explicit Call(Pace& pace) : Call(pace, depth == 0 && is_on()) {}
  Call(Pace& pace, bool counts) : counts_(counts), pace_(pace), weight_(counts ? pace.weight() : 0) {
    if (weight_ > 0) start();
  }
  ~Call() {
    if (weight_ > 0) stop();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool counts() const { return counts_; }

 private:
  void start();
  void stop() const;

  bool counts_;
  Pace& pace_;
  std::uint32_t weight_;
  std::uint64_t begin_ = 0;
};

/// A call that is counted, timed if it is its turn.
template <class Function>
[[gnu::always_inline]] inline int timed(Pace& pace, const Function& function) {
  if (!pace.is_due()) [[likely]] {
    pace.skip();
    return function();
  }
  const Call call(pace, true);
  return function();
}

/// A function whose calls must cost next to nothing: whatever they need is in one place.
struct Quick {
  constexpr explicit Quick(const char* name) : real(name) {}
  Pace pace;
  Real real;
};

/// Around calls inside which MPI may call itself by names that are wrapped.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

template <class Function>
int inside(const Function& function) {
  const Inside guard;
  return function();
}

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
