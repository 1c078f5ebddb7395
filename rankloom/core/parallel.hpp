// SPDX-License-Identifier: Apache-2.0
// core: parallel loops over oneTBB whose results do not depend on the number of threads: work is cut into chunks of
// fixed size, and what the chunks return is combined in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

namespace rankloom {

inline constexpr std::size_t default_chunk = 4096;

/// Calls body(begin, end) for disjoint chunks that cover 0..count-1.
template <class Body>
void parallel_chunks(std::size_t count, std::size_t chunk, const Body& body) {
  const std::size_t chunks = (count + chunk - 1) / chunk;
  if (chunks <= 1) {
    if (count > 0) body(std::size_t{0}, count);
    return;
  }
  oneapi::tbb::parallel_for(std::size_t{0}, chunks,
                            [&](std::size_t i) { body(i * chunk, std::min(count, (i + 1) * chunk)); });
}

template <class Body>
void parallel_chunks(std::size_t count, const Body& body) {
  parallel_chunks(count, default_chunk, body);
}

/// Sum of body(begin, end) over all chunks, added in order: the same to the last bit for any number of threads.
template <class T, class Body>
T parallel_sum(std::size_t count, const Body& body, std::size_t chunk = default_chunk) {
  std::vector<T> partial((count + chunk - 1) / chunk);
  parallel_chunks(count, chunk, [&](std::size_t begin, std::size_t end) { partial[begin / chunk] = body(begin, end); });
  T total{};
  for (const T& part : partial) total += part;
  return total;
}

/// While it lives, parallel loops use at most so many threads; 0: all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::size_t threads)
      : control_(oneapi::tbb::global_control::max_allowed_parallelism, threads > 0 ? threads : all()) {}

 private:
  static std::size_t all() {
    return oneapi::tbb::global_control::active_value(oneapi::tbb::global_control::max_allowed_parallelism);
  }
  oneapi::tbb::global_control control_;
};

}  // namespace rankloom
