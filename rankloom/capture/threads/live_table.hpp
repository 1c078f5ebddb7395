// SPDX-License-Identifier: Apache-2.0
// capture/threads: the counts of a program's threads in a file that another process may read while they grow
// (RANKLOOM_THREADS_LIVE). The recorder counts in it instead of in memory of its own, and does nothing else for its
// readers; they take differences.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankloom::threads {

/// Who has a number now.
struct LiveThread {
  std::atomic<std::int32_t> system_id;      ///< 0: nobody.
  std::atomic<std::int32_t> openmp_number;  ///< In a team of the first level, and one more; 0: not seen there.
};

/// The head of the file. Behind it: row i has the lines that came to thread i from each other one.
struct LiveTable {
  static constexpr std::uint64_t mark = 0x31657669'6c736874;  ///< "thslive1"
  static constexpr std::uint32_t rows = 256;                  ///< Threads with higher numbers are not seen.
  static constexpr std::uint32_t row_length = 4096;           ///< As many as there can be threads.

  std::atomic<std::uint64_t> ready;  ///< `mark`, when all of it is there.
  std::uint32_t process;
  std::atomic<std::uint32_t> in_use;  ///< Numbers that were ever in use.
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
