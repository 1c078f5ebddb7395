// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: ThreadRegistry: the threads of the program, and the beginning and end of recording.
//
// Thread numbers. The main thread is 0. Every other thread gets the lowest free number when it is created. The number
// becomes free when the thread is joined, or ends if it is detached. In a program that creates new threads in every
// step, the new threads therefore reuse the numbers of the previous ones, and their traffic is added up. In the
// profile, threads of an OpenMP team of the first level get their numbers in the team, and the others follow.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

namespace rankloom::threads {

/// Further threads share the last number.
inline constexpr std::uint32_t max_threads = 4096;

enum class ThreadState : std::uint8_t { free, taken, running, ended };

/// The entry of a thread number, with the counts of all threads that had the number. Initially all zeros, so that the
/// array is in .bss and needs no space in the library file.
struct ThreadEntry {
  std::atomic<pthread_t> handle{0};
  std::uint64_t* received = nullptr;  ///< Lines received from each number; max_threads counters.
  void (*routine)() = nullptr;        ///< Start routine of a new thread, of any return type.
  void* argument = nullptr;
  std::uint64_t nanoseconds = 0;  ///< CPU time of the threads that have ended.
  double instructions = 0;        ///< Of the threads that have ended.
  pid_t system_id = 0;            ///< Of the running thread.
  int counter = 0;                ///< File descriptor of the instruction counter; 0: none.
  int openmp_number = 0;          ///< Thread number in a team of the first level, if openmp_seen.
  std::atomic<ThreadState> state{ThreadState::free};
  std::atomic<bool> detached{false};
  bool openmp_seen = false;
  bool instructions_missing = false;  ///< The instructions of some thread could not be counted.
};

/// Starts recording at its first call. Safe to call at any time from any thread. Does not allocate from the heap,
/// because the first access may come from the program's own allocator.
RANKLOOM_HIDDEN void start();
RANKLOOM_HIDDEN bool is_recording();
RANKLOOM_HIDDEN bool register_thread();
RANKLOOM_HIDDEN void record_openmp_number();

/// Registers the calling thread if necessary. False: the thread is not recorded.
inline bool is_registered() {
  if (self.bit == 0 && !register_thread()) return false;
  if (self.openmp_unknown) [[unlikely]]
    record_openmp_number();
  return true;
}

/// The entry of the lowest free number, for a thread that is about to be created; the last entry if none is free.
RANKLOOM_HIDDEN ThreadEntry& allocate_entry();
RANKLOOM_HIDDEN void release_entry(ThreadEntry& entry);
/// Attaches the calling thread to the entry that was allocated for it.
RANKLOOM_HIDDEN bool attach_thread(ThreadEntry& entry);
/// The program has joined or detached the thread with this handle.
RANKLOOM_HIDDEN void thread_joined(pthread_t handle);
RANKLOOM_HIDDEN void thread_detached(pthread_t handle);

/// The number of entries that were ever used.
RANKLOOM_HIDDEN std::uint32_t entry_count();
RANKLOOM_HIDDEN ThreadEntry& thread_entry(std::uint32_t number);

/// In the child of a fork: discards the counts, which belong to the parent. The calling thread becomes the main thread.
RANKLOOM_HIDDEN void reset_after_fork();

/// Writes the profile, once, if this process records.
RANKLOOM_HIDDEN void finish();

}  // namespace rankloom::threads
