// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: time in ticks of the processor's counter, which is cheaper to read than a clock.
#pragma once

#include <cstdint>
#include <ctime>

namespace rankloom::record {

inline std::uint64_t nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::uint64_t ticks() {
#if defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#elif defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return nanoseconds(CLOCK_MONOTONIC);
#endif
}

/// Ticks in this many nanoseconds, within a factor of two, without a measurement.
inline std::uint64_t rough_ticks(std::uint64_t nanoseconds) {
#if defined(__aarch64__)
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return nanoseconds * (frequency >> 20) >> 10;
#elif defined(__x86_64__)
  return nanoseconds * 5 / 2;  // 1.7 to 4 GHz
#else
  return nanoseconds;
#endif
}

/// Ticks per nanosecond, precise enough for the ends of time windows. Measures for about a millisecond on processors
/// that do not report the frequency of their counter.
inline double ticks_per_nanosecond() {
#if defined(__aarch64__)
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return static_cast<double>(frequency) / 1e9;
#elif defined(__x86_64__)
  const std::uint64_t begin = nanoseconds(CLOCK_MONOTONIC), first = ticks();
  while (nanoseconds(CLOCK_MONOTONIC) < begin + 1'000'000) {
  }
  return static_cast<double>(ticks() - first) / static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin);
#else
  return 1;
#endif
}

}  // namespace rankloom::record
