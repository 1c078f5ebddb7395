// SPDX-License-Identifier: Apache-2.0
// capture/threads: who holds which cache line. The compiler's callbacks come in here, the matrix grows here.
//
// What counts as communication. The recorder follows every line of 64 bytes as a coherence protocol would, in caches
// that are large but not endless: a line has a last writer and a set of threads that hold its content. When a thread
// touches a line that it does not hold, and another thread wrote it last, the line moves: 64 bytes and one message from
// that writer to the toucher. Reading adds a holder; writing leaves the writer as the only one. So
//   - a reader after a writer costs one move, however often it reads, until somebody writes again;
//   - a writer after another writer costs one move;
//   - data that is only read costs nothing, however many read it;
//   - two threads that write different bytes of one line (false sharing) cost what they cost on a real machine.
// Cruz et al. 2019, section 4.2, count all pairs of accesses to the same memory; we depart, because two readers of a
// constant need not sit close to each other.
//
// The window within which accesses belong together is a capacity, as that of a real cache: the table remembers a fixed
// number of lines, and a line that another one displaced is as new. The memory of the recorder is bounded by that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankloom::threads {

inline constexpr unsigned line_shift = 6;
inline constexpr std::uint64_t line_bytes = std::uint64_t{1} << line_shift;

/// One remembered line. Both words change only under the lock bit, and are read without it: a reader that sees one word
/// new and one old takes the long way or misses one move, no more.
struct alignas(16) Line {
  std::atomic<std::uint64_t> head{0};     ///< Lock (1 bit), line number (42 bits), last writer (16 bits).
  std::atomic<std::uint64_t> holders{0};  ///< Bit i: thread i modulo 64 holds what was written last.
};

inline constexpr unsigned writer_bits = 16;
inline constexpr std::uint64_t no_writer = (std::uint64_t{1} << writer_bits) - 1;
inline constexpr std::uint64_t locked = std::uint64_t{1} << 63;
inline constexpr std::uint64_t line_number_mask = (std::uint64_t{1} << 42) - 1;  ///< Of 48-bit addresses.

struct LineTable {
  Line* lines = nullptr;
  std::uint64_t mask = 0;  ///< One less than the number of lines, a power of two.
};

// Everything stays inside, but for the functions that the program calls.
#define RANKLOOM_HIDDEN __attribute__((visibility("hidden")))
#define RANKLOOM_CALLBACK extern "C" __attribute__((visibility("default")))

/// All that a thread sees before it is enlisted. It stays empty, so that every access takes the long way.
extern RANKLOOM_HIDDEN Line no_line;

/// What the calling thread knows of itself, with all that the short way needs in one place.
struct Self {
  LineTable table{&no_line, 0};
  std::uint64_t bit = 0;  ///< None: not enlisted yet.
  std::uint64_t number = 0;
  std::uint64_t* received = nullptr;  ///< Lines that came from each other thread; only this thread writes here.
  bool openmp_unknown = true;         ///< Its number in an OpenMP team was not seen yet.
};

extern RANKLOOM_HIDDEN constinit thread_local Self self __attribute__((tls_model("initial-exec")));

RANKLOOM_HIDDEN void read_slowly(std::uint64_t line);
RANKLOOM_HIDDEN void write_slowly(std::uint64_t line);

/// Neighbouring lines stay neighbours, but each region of 8 MiB is moved on by half a MiB: stacks and heaps of threads
/// lie at multiples of such sizes, and would displace each other.
inline Line& place_of(std::uint64_t line) {
  return self.table.lines[(line + (line >> 17 << 13)) & self.table.mask];
}

inline std::uint64_t line_of(const volatile void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) >> line_shift) & line_number_mask;
}

inline void read_line(std::uint64_t line) {
  const Line& entry = place_of(line);
  if (entry.head.load(std::memory_order_relaxed) >> writer_bits == line &&
      (entry.holders.load(std::memory_order_relaxed) & self.bit) != 0) [[likely]]
    return;
  read_slowly(line);
}

inline void write_line(std::uint64_t line) {
  const Line& entry = place_of(line);
  if (entry.head.load(std::memory_order_relaxed) == (line << writer_bits | self.number) &&
      entry.holders.load(std::memory_order_relaxed) == self.bit) [[likely]]
    return;
  write_slowly(line);
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
