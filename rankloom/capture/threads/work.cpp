// SPDX-License-Identifier: Apache-2.0
// capture/threads: how much each thread did.
#include "rankloom/capture/threads/work.hpp"

#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankloom::threads {

namespace {

/// Counters are files, and the program may need its own: no more than these, and above the numbers that programs
/// expect.
constexpr std::uint32_t most_counters = 256;
constexpr int lowest_descriptor = 400;

/// The clock of any thread of this process, as the kernel encodes it (pthread_getcpuclockid wants a handle, which must
/// not be touched once the thread has ended).
std::uint64_t nanoseconds_of(pid_t thread) {
  constexpr unsigned per_thread_scheduler_clock = 6;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | per_thread_scheduler_clock);
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

int open_counter() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const long low = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (low < 0) return -1;
  const int high = ::fcntl(static_cast<int>(low), F_DUPFD_CLOEXEC, lowest_descriptor);
  ::close(static_cast<int>(low));
  return high;
}

/// Programs that close all descriptors and open their own must not find us reading or closing those.
bool is_counter(int descriptor) {
  char path[32], target[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(path, target, sizeof target);
  constexpr const char name[] = "anon_inode:[perf_event]";
  return length == sizeof name - 1 && __builtin_memcmp(target, name, sizeof name - 1) == 0;
}

/// Less than 0: not known.
double read_counter(int descriptor) {
  std::uint64_t count = 0;
  if (descriptor <= 0 || !is_counter(descriptor)) return -1;
  return ::read(descriptor, &count, sizeof count) == sizeof count ? static_cast<double>(count) : -1;
}

void close_counter(Place& place) {
  if (place.counter > 0 && is_counter(place.counter)) ::close(place.counter);
  place.counter = 0;
}

}  // namespace

void start_counting_work(Place& place) {
  place.counter = self.number < most_counters ? open_counter() : 0;
}

void add_up_work(Place& place) {
  place.nanoseconds += nanoseconds_of(place.system_id);
  const double instructions = read_counter(place.counter);
  place.instructions_missing = place.instructions_missing || instructions < 0;
  place.instructions += instructions >= 0 ? instructions : 0;
  close_counter(place);
}

void forget_work(Place& place) {
  close_counter(place);
  place.nanoseconds = 0;
  place.instructions = 0;
  place.instructions_missing = false;
}

Work work_so_far(const Place& place) {
  Work work{.seconds = static_cast<double>(place.nanoseconds) / 1e9,
            .instructions = place.instructions,
            .instructions_known = !place.instructions_missing};
  if (place.state.load(std::memory_order_acquire) != PlaceState::running) return work;
  work.seconds += static_cast<double>(nanoseconds_of(place.system_id)) / 1e9;
  const double instructions = read_counter(place.counter);
  work.instructions_known = work.instructions_known && instructions >= 0;
  work.instructions += instructions >= 0 ? instructions : 0;
  return work;
}

}  // namespace rankloom::threads
