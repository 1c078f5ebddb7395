// SPDX-License-Identifier: Apache-2.0
// capture/threads: the long way of an access: a line that is new, or that another thread had.
#include "rankloom/capture/threads/lines.hpp"

#include "rankloom/capture/threads/roster.hpp"

namespace rankloom::threads {

namespace {

/// How often a lock is asked for. Whoever holds it needs a few instructions, unless it was put to sleep in between or
/// is this very thread, under a signal handler: then the access is not counted, rather than waited for.
constexpr int patience = 200;

/// A line whose lock was got, with its head as it was. No line: the lock was not to be had.
struct Locked {
  Line* line = nullptr;
  std::uint64_t head = 0;
};

Locked lock(std::uint64_t number) {
  Line& line = place_of(number);
  for (int attempt = 0; attempt < patience; ++attempt) {
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

/// The line comes to this thread, from its last writer if there is one.
void receive(std::uint64_t writer) {
  if (writer != no_writer && writer != self.number) ++self.received[writer];
}

}  // namespace

constinit Line no_line;
constinit thread_local Self self;

void read_slowly(std::uint64_t number) {
  if (!is_enlisted()) return;
  const auto [line, head] = lock(number);
  if (line == nullptr) return;
  if (head >> writer_bits != number) return unlock(*line, number, no_writer, self.bit);
  const std::uint64_t writer = head & no_writer, holders = line->holders.load(std::memory_order_relaxed);
  if ((holders & self.bit) == 0) receive(writer);
  unlock(*line, number, writer, holders | self.bit);
}

void write_slowly(std::uint64_t number) {
  if (!is_enlisted()) return;
  const auto [line, head] = lock(number);
  if (line == nullptr) return;
  if (head >> writer_bits == number && (line->holders.load(std::memory_order_relaxed) & self.bit) == 0)
    receive(head & no_writer);
  unlock(*line, number, self.number, self.bit);
}

}  // namespace rankloom::threads
