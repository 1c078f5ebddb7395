// SPDX-License-Identifier: Apache-2.0
// capture/record: the time inside MPI: which calls are timed, and the guard that times one call. The library that
// traces (RANKLOOM_TRACE) times every call; therefore only recorder.cpp and the generated wrappers include this header,
// which are compiled for each library.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "rankloom/capture/record/counting/clock.hpp"
#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

#if defined(RANKLOOM_TRACE)
constexpr bool is_tracing = true;
#else
constexpr bool is_tracing = false;
#endif

/// Decides which calls of one function are timed. Two readings of the clock cost about 50 ns, while another rank may
/// wait for this one. Calls are therefore sampled at random intervals, and the time of a sampled call is multiplied by
/// the mean interval, which is correct on average. The interval grows while calls are short, so that timing costs about
/// 0.5 % of their time: up to 32 calls, and up to 256 after a long series of short calls. Calls of 10 µs or more, and
/// the calls after them, are all timed. A trace times every call.
class TimingSampler {
 public:
  /// Whether the next call is timed.
  bool is_due() const { return calls_left_ <= 1; }
  void skip() { --calls_left_; }
  /// The factor for the time of this call; 0: the call is not timed.
  std::uint32_t weight() { return --calls_left_ > 0 ? 0 : weight_; }
  void add_sample(std::uint64_t duration) {
    constexpr std::uint32_t usual_max_interval = 32, max_interval = 256, min_short_calls = 64;
    const std::uint64_t long_call = rough_ticks(10'000);
    typical_ += (std::min(duration, 64 * long_call) >> 2) - (typical_ >> 2);
    const auto shift = static_cast<int>(std::bit_width(long_call)) - static_cast<int>(std::bit_width(typical_));
    std::uint32_t mean = is_tracing || shift <= 0 ? 1 : shift < 5 ? 1U << shift : usual_max_interval;
    short_calls_ = mean < usual_max_interval ? 0 : short_calls_ < min_short_calls ? short_calls_ + 1 : short_calls_;
    // Time windows end at timed calls, which therefore must not become rare.
    if (short_calls_ == min_short_calls && recorder.counters.phase_end() == UINT64_MAX) mean = max_interval;
    random_ = random_ * 1664525 + 1013904223;
    weight_ = mean;
    calls_left_ = static_cast<std::int32_t>(1 + ((random_ >> 16) * (2 * mean - 1) >> 16));  // `mean` on average
  }

 private:
  // Threads that call the same function at the same time may race here. A race only changes which calls are timed.
  std::int32_t calls_left_ = 1;
  std::uint32_t weight_ = 1;
  std::uint32_t random_ = 1;
  std::uint32_t short_calls_ = 0;  // successive samples of short calls
  std::uint64_t typical_ =
      UINT64_C(1) << 32;  // moving average in ticks; begins high, so that the first calls are timed
};

/// Around each PMPI call: times the call if it is sampled, and says whether it is to be counted.
class Call {
 public:
  /// For functions that the MPI library may call itself by a wrapped name.
  explicit Call(TimingSampler& sampler) : Call(sampler, reentrancy_depth == 0 && is_on()) {}
  Call(TimingSampler& sampler, bool counts)
      : counts_(counts), sampler_(sampler), weight_(counts ? sampler.weight() : 0) {
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
  TimingSampler& sampler_;
  std::uint32_t weight_;
  std::uint64_t begin_ = 0;
};

/// Makes a call that is counted, and times it if it is sampled.
template <class Function>
[[gnu::always_inline]] inline int timed(TimingSampler& sampler, const Function& function) {
  if (!sampler.is_due()) [[likely]] {
    sampler.skip();
    return function();
  }
  const Call call(sampler, true);
  return function();
}

/// The state of a wrapper with minimal overhead (MPI_Send and the like), all in one cache line.
struct FastPath {
  constexpr explicit FastPath(const char* name) : real(name) {}
  TimingSampler sampler;
  RealFunction real;
};

}  // namespace rankloom::record
