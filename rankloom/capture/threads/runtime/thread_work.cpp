// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the work of each thread.
#include "rankloom/capture/threads/runtime/thread_work.hpp"

#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankloom::threads {

namespace {

/// Counters need file descriptors, of which the program needs some too: their number is limited, and they are moved
/// above the numbers that programs expect.
constexpr std::uint32_t max_counters = 256;
constexpr int min_descriptor = 400;

/// CPU time of a thread of this process, by the clock id as the kernel encodes it. pthread_getcpuclockid needs a
/// pthread_t, which is invalid after the thread has ended.
std::uint64_t nanoseconds_of(pid_t thread) {
  constexpr unsigned per_thread_scheduler_clock = 6;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | per_thread_scheduler_clock);
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

int open_counter() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long low = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (low < 0) return -1;
  const int high = ::fcntl(static_cast<int>(low), F_DUPFD_CLOEXEC, min_descriptor);
  ::close(static_cast<int>(low));
  return high;
}

/// A program may have closed our descriptor, and the number may now refer to a file of the program.
bool is_counter(int descriptor) {
  char path[32], target[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(path, target, sizeof target);
  constexpr const char name[] = "anon_inode:[perf_event]";
  return length == sizeof name - 1 && __builtin_memcmp(target, name, sizeof name - 1) == 0;
}

/// The instructions; negative: unknown.
double read_counter(int descriptor) {
  std::uint64_t count = 0;
  if (descriptor <= 0 || !is_counter(descriptor)) return -1;
  return ::read(descriptor, &count, sizeof count) == sizeof count ? static_cast<double>(count) : -1;
}

void close_counter(ThreadEntry& entry) {
  if (entry.counter > 0 && is_counter(entry.counter)) ::close(entry.counter);
  entry.counter = 0;
}

}  // namespace

void open_work_counters(ThreadEntry& entry) {
  entry.counter = self.number < max_counters ? open_counter() : 0;
}

void accumulate_work(ThreadEntry& entry) {
  entry.nanoseconds += nanoseconds_of(entry.system_id);
  const double instructions = read_counter(entry.counter);
  entry.instructions_missing = entry.instructions_missing || instructions < 0;
  entry.instructions += instructions >= 0 ? instructions : 0;
  close_counter(entry);
}

void reset_work(ThreadEntry& entry) {
  close_counter(entry);
  entry.nanoseconds = 0;
  entry.instructions = 0;
  entry.instructions_missing = false;
}

Work total_work(const ThreadEntry& entry) {
  Work work{.seconds = static_cast<double>(entry.nanoseconds) / 1e9,
            .instructions = entry.instructions,
            .instructions_known = !entry.instructions_missing};
  if (entry.state.load(std::memory_order_acquire) != ThreadState::running) return work;
  work.seconds += static_cast<double>(nanoseconds_of(entry.system_id)) / 1e9;
  const double instructions = read_counter(entry.counter);
  work.instructions_known = work.instructions_known && instructions >= 0;
  work.instructions += instructions >= 0 ? instructions : 0;
  return work;
}

}  // namespace rankloom::threads
