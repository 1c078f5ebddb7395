// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the ownership of cache lines. The instrumented accesses of the program come in here, and the
// transfers between threads are counted here.
//
// Definition of communication. The recorder models every line of 64 bytes as a coherence protocol does, in caches of
// finite size. A line has a last writer and a set of threads that hold its content. When a thread accesses a line that
// it does not hold and that another thread wrote last, the line is transferred: 64 bytes and one message from the
// writer to the accessing thread. A read adds the reader to the holders. A write leaves the writer as the only holder.
// Therefore
//   - a read after a write of another thread is one transfer, and further reads are free until the next write;
//   - a write after a write of another thread is one transfer;
//   - data that is only read causes no transfers;
//   - writes of two threads to different bytes of one line (false sharing) are transfers, as on a real machine.
// Cruz et al. 2019, section 4.2, count all pairs of accesses to the same memory. We depart from this, because two
// readers of a constant gain nothing from being placed close to each other.
//
// The table remembers a fixed number of lines, like a cache. A line that was evicted by another one has no last writer.
// This bounds the memory of the recorder, and the time between two accesses that count as communication.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankloom::threads {

inline constexpr unsigned line_shift = 6;
inline constexpr std::uint64_t line_bytes = std::uint64_t{1} << line_shift;

/// One remembered line. Both words change only under the lock bit but are read without it: a reader that sees one old
/// and one new word takes the slow path or misses one transfer.
struct alignas(16) Line {
  std::atomic<std::uint64_t> head{0};     ///< Lock (1 bit), line number (42 bits), last writer (16 bits).
  std::atomic<std::uint64_t> holders{0};  ///< Bit i: thread i modulo 64 holds the current content.
};

inline constexpr unsigned writer_bits = 16;
inline constexpr std::uint64_t no_writer = (std::uint64_t{1} << writer_bits) - 1;
inline constexpr std::uint64_t locked = std::uint64_t{1} << 63;
inline constexpr std::uint64_t line_number_mask = (std::uint64_t{1} << 42) - 1;  ///< Of 48-bit addresses.

struct LineTable {
  Line* lines = nullptr;
  std::uint64_t mask = 0;  ///< One less than the number of lines, a power of two.
};

// Only the functions that the program calls are exported.
#define RANKLOOM_HIDDEN __attribute__((visibility("hidden")))
#define RANKLOOM_CALLBACK extern "C" __attribute__((visibility("default")))

/// The table of a thread that is not registered yet. It stays empty, so that every access takes the slow path.
extern RANKLOOM_HIDDEN Line no_line;

/// The state of the calling thread, with everything that the fast path needs in one cache line.
struct Self {
  LineTable table{&no_line, 0};
  std::uint64_t bit = 0;  ///< 0: not registered yet.
  std::uint64_t number = 0;
  std::uint64_t* received = nullptr;  ///< Lines received from each other thread; only this thread writes.
  bool openmp_unknown = true;         ///< The thread number in an OpenMP team is not known yet.
};

extern RANKLOOM_HIDDEN constinit thread_local Self self __attribute__((tls_model("initial-exec")));

RANKLOOM_HIDDEN void read_slow_path(std::uint64_t line);
RANKLOOM_HIDDEN void write_slow_path(std::uint64_t line);

/// The table slot of a line. Adjacent lines have adjacent slots, but each region of 8 MiB is shifted by half a MiB:
/// stacks and heaps of threads start at multiples of such sizes and would evict each other.
inline Line& slot_of(std::uint64_t line) {
  return self.table.lines[(line + (line >> 17 << 13)) & self.table.mask];
}

inline std::uint64_t line_of(const volatile void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) >> line_shift) & line_number_mask;
}

inline void read_line(std::uint64_t line) {
  const Line& entry = slot_of(line);
  if (entry.head.load(std::memory_order_relaxed) >> writer_bits == line &&
      (entry.holders.load(std::memory_order_relaxed) & self.bit) != 0) [[likely]]
    return;
  read_slow_path(line);
}

inline void write_line(std::uint64_t line) {
  const Line& entry = slot_of(line);
  if (entry.head.load(std::memory_order_relaxed) == (line << writer_bits | self.number) &&
      entry.holders.load(std::memory_order_relaxed) == self.bit) [[likely]]
    return;
  write_slow_path(line);
}

inline void read_bytes(const volatile void* address, std::size_t size) {
  if (size == 0) return;
  const std::uint64_t last = line_of(static_cast<const volatile char*>(address) + size - 1);
  for (std::uint64_t line = line_of(address); line <= last; ++line) read_line(line);
}

inline void write_bytes(const volatile void* address, std::size_t size) {
  if (size == 0) return;
  const std::uint64_t last = line_of(static_cast<const volatile char*>(address) + size - 1);
  for (std::uint64_t line = line_of(address); line <= last; ++line) write_line(line);
}

}  // namespace rankloom::threads
