// SPDX-License-Identifier: Apache-2.0
// place/online: the threads of one program, seen from outside.
#include "rankloom/place/online/thread_watch.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/place/online/host.hpp"

namespace rankloom {

namespace {

constexpr double line_bytes = 64;
/// A thread that is on a processing unit for less than this of a window waits for others.
constexpr double least_work = 0.02;
/// One that only starts others is busy for a moment.
constexpr int least_windows = 3;

}  // namespace

bool ThreadWatch::look() {
  if (!table_) table_ = LiveThreads::open(path_);
  return table_ != nullptr;
}

bool ThreadWatch::is_running() const {
  return table_ && !table_->ended() && host::is_alive(table_->process());
}

bool ThreadWatch::read(double now) {
  begin_ = std::exchange(end_, now);
  const std::uint32_t count = table_->numbers();
  threads_.resize(std::max<std::size_t>(threads_.size(), count));
  bool more = false;
  for (std::uint32_t number = 0; number < count; ++number) {
    Thread& thread = threads_[number];
    thread.before = std::exchange(thread.received, table_->received(number, count));
    thread.before.resize(count, 0);
    const std::uint32_t system_id = table_->system_id(number);
    // A number that another thread has taken: its clock begins anew.
    if (std::exchange(thread.system_id, system_id) != system_id) thread.cpu = 0;
    const auto cpu = system_id > 0 ? host::thread_cpu_seconds(table_->process(), system_id) : std::nullopt;
    thread.load = cpu ? std::max(0.0, *cpu - thread.cpu) : 0;
    if (cpu) thread.cpu = *cpu;
    if (thread.load >= least_work * (end_ - begin_)) ++thread.busy_windows;
    if (thread.works || thread.busy_windows < least_windows) continue;
    thread.works = more = true;
    workers_.insert(std::ranges::upper_bound(workers_, number), number);
  }
  return more;
}

OnlineWindow ThreadWatch::window() const {
  const auto count = static_cast<std::uint32_t>(workers_.size());
  CommGraphBuilder pairs(count);
  std::vector<double> loads(count, 0.0);
  for (std::uint32_t to = 0; to < count; ++to) {
    const Thread& thread = threads_[workers_[to]];
    loads[to] = std::min(thread.load, end_ - begin_);
    for (std::uint32_t from = 0; from < count; ++from) {
      const std::uint32_t number = workers_[from];
      if (from == to || number >= thread.received.size() || thread.received[number] <= thread.before[number]) continue;
      const auto lines = static_cast<double>(thread.received[number] - thread.before[number]);
      pairs.add(Rank{from}, Rank{to}, lines * line_bytes, lines);
    }
  }
  if (with_work_) pairs.set_loads(std::move(loads));
  return {begin_, end_, std::move(pairs).build(true)};
}

}  // namespace rankloom
