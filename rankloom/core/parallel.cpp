// SPDX-License-Identifier: Apache-2.0
// core: the parts of parallel loops that need oneTBB.
#include "rankloom/core/parallel.hpp"

#include <atomic>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_group.h>

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

namespace {

class TaskRun {
 public:
  TaskRun(std::span<const std::vector<std::uint32_t>> successors, void (*body)(const void* context, std::size_t i),
          const void* context)
      : successors_(successors), body_(body), context_(context), waiting_for_(successors.size()) {
    for (const auto& tasks : successors)
      for (const std::uint32_t task : tasks) ++waiting_for_[task];
  }

  void run() {
    std::vector<std::uint32_t> first;
    for (std::uint32_t task = 0; task < waiting_for_.size(); ++task)
      if (waiting_for_[task] == 0) first.push_back(task);
    for (const std::uint32_t task : first) start(task);
    tasks_.wait();
  }

 private:
  void start(std::uint32_t task) {
    tasks_.run([this, task] {
      const TimedSection continued(section_);
      body_(context_, task);
      for (const std::uint32_t next : successors_[task])
        if (--waiting_for_[next] == 0) start(next);
    });
  }

  std::span<const std::vector<std::uint32_t>> successors_;
  void (*body_)(const void* context, std::size_t i);
  const void* context_;
  detail::TimingNode* section_ = detail::current_section();
  std::vector<std::atomic<std::uint32_t>> waiting_for_;  // tasks that have not ended
  oneapi::tbb::task_group tasks_;
};

}  // namespace

void detail::parallel_tasks(std::span<const std::vector<std::uint32_t>> successors,
                            void (*body)(const void* context, std::size_t i), const void* context) {
  TaskRun(successors, body, context).run();
}

void detail::parallel_ordered(std::size_t count, const OrderedStages& stages, const void* context) {
  using oneapi::tbb::filter_mode;
  constexpr std::size_t items_per_thread = 4;
  TimingNode* const section = current_section();
  std::size_t next = 0;
  const auto numbers = oneapi::tbb::make_filter<void, std::size_t>(
      filter_mode::serial_in_order, [&](oneapi::tbb::flow_control& control) -> std::size_t {
        if (next == count) control.stop();
        return next == count ? count : next++;
      });
  const auto make = oneapi::tbb::make_filter<std::size_t, void*>(filter_mode::parallel, [&](std::size_t i) -> void* {
    const TimedSection continued(section);
    return stages.make(context, i);
  });
  const auto order = oneapi::tbb::make_filter<void*, void*>(filter_mode::serial_in_order, [&](void* item) -> void* {
    stages.order(context, item);
    return item;
  });
  const auto take = oneapi::tbb::make_filter<void*, void>(filter_mode::parallel, [&](void* item) {
    const TimedSection continued(section);
    stages.take(context, item);
  });
  oneapi::tbb::parallel_pipeline(items_per_thread * thread_count(), numbers & make & order & take);
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
