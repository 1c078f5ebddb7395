// SPDX-License-Identifier: Apache-2.0
// capture/threads: the layout of the file with the counters of a running program's threads (RANKLOOM_THREADS_LIVE). The
// recorder counts in this memory-mapped file instead of private memory. Readers use differences of counters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankloom::threads {

/// The thread that has a number now.
struct LiveThread {
  std::atomic<std::int32_t> system_id;  ///< 0: no thread.
  std::atomic<std::int32_t>
      openmp_number;  ///< Thread number in an OpenMP team of the first level plus one; 0: unknown.
};

/// The head of the file. The rows follow: row i contains the lines that thread i received from each other thread.
struct LiveTable {
  static constexpr std::uint64_t magic = 0x31657669'6c736874;  ///< "thslive1"
  static constexpr std::uint32_t rows = 256;                   ///< Threads with higher numbers are not in the table.
  static constexpr std::uint32_t row_length = 4096;            ///< The maximum number of threads.

  std::atomic<std::uint64_t> ready;  ///< `magic`, as soon as the table is complete.
  std::uint32_t process;
  std::atomic<std::uint32_t> in_use;  ///< The count of numbers that were ever used.
  std::atomic<std::uint32_t> ended;   ///< The program is about to end.
  std::uint32_t reserved;
  LiveThread threads[rows];

  static constexpr std::size_t head_bytes = 8192;
  static constexpr std::size_t bytes = head_bytes + std::size_t{rows} * row_length * sizeof(std::uint64_t);
  std::uint64_t* row(std::uint32_t number) {
    return reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(this) + head_bytes) +
           std::size_t{number} * row_length;
  }
  const std::uint64_t* row(std::uint32_t number) const { return const_cast<LiveTable*>(this)->row(number); }
};
static_assert(sizeof(LiveTable) <= LiveTable::head_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace rankloom::threads
