// SPDX-License-Identifier: Apache-2.0
// core: the parts of parallel loops that need oneTBB.
#include "rankloom/core/parallel.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "rankloom/core/timing.hpp"

namespace rankloom {

using oneapi::tbb::global_control;

void detail::parallel_for(std::size_t count, void (*body)(const void* context, std::size_t i), const void* context) {
  TimingNode* const section = current_section();
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    const TimedSection continued(section);
    body(context, i);
  });
}

std::size_t thread_count() {
  return global_control::active_value(global_control::max_allowed_parallelism);
}

struct ThreadLimit::Control {
  global_control limit;
};

ThreadLimit::ThreadLimit(std::size_t threads)
    : control_(new Control{
          global_control(global_control::max_allowed_parallelism, threads > 0 ? threads : thread_count())}) {}

ThreadLimit::~ThreadLimit() = default;

}  // namespace rankloom
