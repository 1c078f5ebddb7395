// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the slow path of an access: a new line, or a line that another thread accessed before.
#include "rankloom/capture/threads/runtime/cache_lines.hpp"

#include "rankloom/capture/threads/runtime/thread_registry.hpp"

namespace rankloom::threads {

namespace {

/// Attempts to lock a line. The owner holds the lock for a few instructions only, unless it was preempted or is this
/// thread itself, interrupted by a signal handler. In these cases the access is not counted, to avoid a deadlock.
constexpr int max_lock_attempts = 200;

/// A locked line with its previous head. nullptr: the lock was not acquired.
struct LockedLine {
  Line* line = nullptr;
  std::uint64_t head = 0;
};

LockedLine lock(std::uint64_t number) {
  Line& line = slot_of(number);
  for (int attempt = 0; attempt < max_lock_attempts; ++attempt) {
    std::uint64_t head = line.head.load(std::memory_order_relaxed);
    if ((head & locked) == 0 && line.head.compare_exchange_weak(head, head | locked, std::memory_order_acquire))
      return {&line, head};
  }
  return {};
}

void unlock(Line& line, std::uint64_t number, std::uint64_t writer, std::uint64_t holders) {
  line.holders.store(holders, std::memory_order_relaxed);
  line.head.store(number << writer_bits | writer, std::memory_order_release);
}

/// Counts a transfer from the last writer to this thread.
void count_transfer(std::uint64_t writer) {
  if (writer != no_writer && writer != self.number) ++self.received[writer];
}

}  // namespace

constinit Line no_line;
constinit thread_local Self self;

void read_slow_path(std::uint64_t number) {
  if (!is_registered()) return;
  const auto [line, head] = lock(number);
  if (line == nullptr) return;
  if (head >> writer_bits != number) return unlock(*line, number, no_writer, self.bit);
  const std::uint64_t writer = head & no_writer, holders = line->holders.load(std::memory_order_relaxed);
  if ((holders & self.bit) == 0) count_transfer(writer);
  unlock(*line, number, writer, holders | self.bit);
}

void write_slow_path(std::uint64_t number) {
  if (!is_registered()) return;
  const auto [line, head] = lock(number);
  if (line == nullptr) return;
  if (head >> writer_bits == number && (line->holders.load(std::memory_order_relaxed) & self.bit) == 0)
    count_transfer(head & no_writer);
  unlock(*line, number, self.number, self.bit);
}

}  // namespace rankloom::threads
