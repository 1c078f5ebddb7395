// SPDX-License-Identifier: Apache-2.0
// place/online: observes the threads of one program from outside.
#include "rankloom/place/online/agent/thread_monitor.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/place/online/agent/process_control.hpp"

namespace rankloom {

namespace {

constexpr double cache_line_bytes = 64;
/// A thread that uses a smaller fraction of a window only waits for others.
constexpr double min_busy_fraction = 0.02;
/// A thread that only starts other threads is busy for fewer windows.
constexpr int min_busy_windows = 3;

}  // namespace

bool ThreadMonitor::open_table() {
  if (!table_) table_ = LiveThreads::open(path_);
  return table_ != nullptr;
}

bool ThreadMonitor::is_running() const {
  return table_ && !table_->ended() && process_control::is_alive(table_->process());
}

bool ThreadMonitor::read(double now) {
  begin_ = std::exchange(end_, now);
  const std::uint32_t count = table_->numbers();
  threads_.resize(std::max<std::size_t>(threads_.size(), count));
  bool more_threads = false;
  for (std::uint32_t number = 0; number < count; ++number) {
    Thread& thread = threads_[number];
    thread.previously_received = std::exchange(thread.received, table_->received(number, count));
    thread.previously_received.resize(count, 0);
    const std::uint32_t system_id = table_->system_id(number);
    // Another thread took over the number, and its CPU time starts at zero.
    if (std::exchange(thread.system_id, system_id) != system_id) thread.cpu_seconds = 0;
    const auto cpu = system_id > 0 ? process_control::thread_cpu_seconds(table_->process(), system_id) : std::nullopt;
    thread.load = cpu ? std::max(0.0, *cpu - thread.cpu_seconds) : 0;
    if (cpu) thread.cpu_seconds = *cpu;
    if (thread.load >= min_busy_fraction * (end_ - begin_)) ++thread.busy_windows;
    if (thread.works || thread.busy_windows < min_busy_windows) continue;
    thread.works = more_threads = true;
    workers_.insert(std::ranges::upper_bound(workers_, number), number);
  }
  return more_threads;
}

TrafficWindow ThreadMonitor::window() const {
  const auto count = static_cast<std::uint32_t>(workers_.size());
  CommGraphBuilder pairs(count);
  std::vector<double> loads(count, 0.0);
  for (std::uint32_t to = 0; to < count; ++to) {
    const Thread& thread = threads_[workers_[to]];
    loads[to] = std::min(thread.load, end_ - begin_);
    for (std::uint32_t from = 0; from < count; ++from) {
      const std::uint32_t number = workers_[from];
      if (from == to || number >= thread.received.size() ||
          thread.received[number] <= thread.previously_received[number])
        continue;
      const auto lines = static_cast<double>(thread.received[number] - thread.previously_received[number]);
      pairs.add(Rank{from}, Rank{to}, lines * cache_line_bytes, lines);
    }
  }
  if (use_cpu_times_) pairs.set_loads(std::move(loads));
  return {begin_, end_, std::move(pairs).build(true)};
}

}  // namespace rankloom
