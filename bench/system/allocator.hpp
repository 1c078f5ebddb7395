// SPDX-License-Identifier: Apache-2.0
// bench/system: what the benchmarks of allocation share.
#pragma once

#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::bench {

/// CPU time of this thread (CLOCK_THREAD_CPUTIME_ID) or of this process (CLOCK_PROCESS_CPUTIME_ID), which other
/// programs on the machine do not influence.
inline double processor_seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class T>
T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", to_string(result.error()));
  std::exit(5);
}

/// Jobs share what is the default for this kind of machine.
inline Allocator allocator_for(const std::string& text) {
  Topology topology = value_or_exit(load_topology(text));
  const Exclusive exclusive = default_exclusive(topology);
  return Allocator(AllocationMachine(std::move(topology), exclusive));
}

}  // namespace rankloom::bench
