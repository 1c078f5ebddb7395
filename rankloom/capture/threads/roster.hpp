// SPDX-License-Identifier: Apache-2.0
// capture/threads: the threads of the program, and when recording starts and ends.
//
// A thread's number. The main thread is 0. Every other thread gets the lowest number that is not in use, when it is
// created; the number is given back when the thread has been joined, or has ended if it is detached. So a program that
// starts its threads anew in every step sees them take the places of those before, and what they do adds up. At the
// end, threads that were seen in an OpenMP team of the first level are renamed to their numbers there, and the others
// follow.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "rankloom/capture/threads/lines.hpp"

namespace rankloom::threads {

/// More at the same time share the last number.
inline constexpr std::uint32_t most_threads = 4096;

enum class PlaceState : std::uint8_t { free, taken, running, ended };

/// What a number stands for, and what the threads that had it have done. All zeros at first, so that thousands of them
/// take no room in the file of the library.
struct Place {
  std::atomic<pthread_t> handle{0};
  std::uint64_t* received = nullptr;  ///< Lines that came from each number; most_threads of them.
  void (*routine)() = nullptr;        ///< What a new thread shall do, whatever it returns.
  void* argument = nullptr;
  std::uint64_t nanoseconds = 0;  ///< CPU time of the threads that ended here.
  double instructions = 0;        ///< Of the threads that ended here.
  pid_t system_id = 0;            ///< Of the thread that runs here now.
  int counter = 0;                ///< File descriptor of its instruction counter; 0: none.
  int openmp_number = 0;          ///< In a team of the first level, if it was seen there.
  std::atomic<PlaceState> state{PlaceState::free};
  std::atomic<bool> detached{false};
  bool openmp_seen = false;
  bool instructions_missing = false;  ///< Some thread here could not be counted.
};

/// Starts recording, if nobody has; safe to call at any time, from any thread, and without asking for memory from the
/// heap: the first access may come from the program's own allocator.
RANKLOOM_HIDDEN void start();
RANKLOOM_HIDDEN bool is_recording();
RANKLOOM_HIDDEN bool enlist();
RANKLOOM_HIDDEN void note_openmp_number();

/// Whether the calling thread counts; makes it so if that can be done.
inline bool is_enlisted() {
  if (self.bit == 0 && !enlist()) return false;
  if (self.openmp_unknown) [[unlikely]]
    note_openmp_number();
  return true;
}

/// A number for a thread to be created; the last one when there are no more.
RANKLOOM_HIDDEN Place& take_place();
RANKLOOM_HIDDEN void give_back(Place& place);
/// The calling thread is the one that the number was taken for.
RANKLOOM_HIDDEN bool occupy(Place& place);
/// The thread of this handle was joined or detached.
RANKLOOM_HIDDEN void was_joined(pthread_t handle);
RANKLOOM_HIDDEN void was_detached(pthread_t handle);

/// Numbers that were ever in use.
RANKLOOM_HIDDEN std::uint32_t places_in_use();
RANKLOOM_HIDDEN Place& place(std::uint32_t number);

/// After a fork: everything that was recorded belongs to the parent, and the one thread that goes on is the main
/// thread.
RANKLOOM_HIDDEN void begin_anew_in_child();

/// Writes the recording, once, if this process shall write one.
RANKLOOM_HIDDEN void finish();

}  // namespace rankloom::threads
