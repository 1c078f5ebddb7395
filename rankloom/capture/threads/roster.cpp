// SPDX-License-Identifier: Apache-2.0
// capture/threads: the threads of the program.
#include "rankloom/capture/threads/roster.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/capture/threads/live.hpp"
#include "rankloom/capture/threads/recording.hpp"
#include "rankloom/capture/threads/work.hpp"

// Of the OpenMP runtime, if the program has one. LLVM's is known by its own name: it may not be asked from everywhere,
// and numbers its threads in the order of creation anyway.
extern "C" {
__attribute__((weak)) int omp_get_level();
__attribute__((weak)) int omp_get_thread_num();
__attribute__((weak)) void __kmpc_fork_call();
}

namespace rankloom::threads {

namespace {

enum class Stage : std::uint8_t { none, starting, recording };

constinit std::atomic<Stage> stage{Stage::none};
constinit LineTable table;
constinit Place places[most_threads];
constinit std::atomic<std::uint32_t> in_use{0};
constinit std::atomic<bool> finished{false};
constinit pid_t owner = 0;  // the process that records; a child of vfork shares our memory, but is another
constinit bool is_fork_child = false;
pthread_key_t end_of_thread;

void* map_zeros(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

pid_t system_id() {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

void thread_ends(void* which) {
  Place& ending = *static_cast<Place*>(which);
  add_up_work(ending);
  tell_live_thread(static_cast<std::uint32_t>(&ending - places), 0);
  if (ending.detached.load(std::memory_order_relaxed)) {
    give_back(ending);
  } else {
    ending.state.store(PlaceState::ended, std::memory_order_release);
  }
}

}  // namespace

void start() {
  Stage expected = Stage::none;
  if (!stage.compare_exchange_strong(expected, Stage::starting, std::memory_order_acq_rel)) return;
  owner = ::getpid();
  const std::uint64_t lines = read_settings();
  auto* const memory = static_cast<Line*>(map_zeros(lines * sizeof(Line)));
  if (memory == nullptr || ::pthread_key_create(&end_of_thread, thread_ends) != 0) return;  // for ever starting
  open_live_table();
  table.lines = memory;
  table.mask = lines - 1;
  places[0].state.store(PlaceState::taken, std::memory_order_relaxed);  // the main thread's, whoever comes first
  in_use.store(1, std::memory_order_relaxed);
  stage.store(Stage::recording, std::memory_order_release);
}

bool is_recording() {
  return stage.load(std::memory_order_acquire) == Stage::recording;
}

bool enlist() {
  start();
  if (!is_recording()) return false;
  const bool main_thread = system_id() == owner;
  Place& mine = main_thread ? places[0] : take_place();
  // Created behind our back, so nobody will tell us that it was joined.
  if (!main_thread) mine.detached.store(true, std::memory_order_relaxed);
  return occupy(mine);
}

Place& take_place() {
  std::uint32_t number = 0;
  for (; number + 1 < most_threads; ++number) {
    PlaceState expected = PlaceState::free;
    if (places[number].state.compare_exchange_strong(expected, PlaceState::taken, std::memory_order_acq_rel)) break;
  }
  std::uint32_t before = in_use.load(std::memory_order_relaxed);
  while (before <= number && !in_use.compare_exchange_weak(before, number + 1, std::memory_order_relaxed)) {
  }
  places[number].handle.store(0, std::memory_order_relaxed);
  places[number].detached.store(false, std::memory_order_relaxed);
  return places[number];
}

void give_back(Place& place) {
  place.state.store(PlaceState::free, std::memory_order_release);
}

bool occupy(Place& place) {
  const auto number = static_cast<std::uint64_t>(&place - places);
  if (place.received == nullptr) place.received = live_row(static_cast<std::uint32_t>(number));
  if (place.received == nullptr)
    place.received = static_cast<std::uint64_t*>(map_zeros(most_threads * sizeof(std::uint64_t)));
  if (place.received == nullptr) return false;
  place.handle.store(::pthread_self(), std::memory_order_relaxed);
  place.system_id = system_id();
  tell_live_thread(static_cast<std::uint32_t>(number), place.system_id);
  self.number = number;
  start_counting_work(place);
  place.state.store(PlaceState::running, std::memory_order_release);
  self.received = place.received;
  self.openmp_unknown = omp_get_level != nullptr && omp_get_thread_num != nullptr && __kmpc_fork_call == nullptr;
  self.table = table;
  self.bit = std::uint64_t{1} << number % 64;
  ::pthread_setspecific(end_of_thread, &place);
  return true;
}

void note_openmp_number() {
  if (omp_get_level() != 1) return;
  self.openmp_unknown = false;
  places[self.number].openmp_number = omp_get_thread_num();
  places[self.number].openmp_seen = true;
  tell_live_openmp_number(static_cast<std::uint32_t>(self.number), places[self.number].openmp_number);
}

void was_joined(pthread_t handle) {
  for (std::uint32_t number = 1; number < places_in_use(); ++number) {
    Place& candidate = places[number];
    // Handles are used again: the thread that was joined is one that has ended.
    if (candidate.state.load(std::memory_order_acquire) == PlaceState::ended &&
        ::pthread_equal(candidate.handle.load(std::memory_order_relaxed), handle) != 0)
      return give_back(candidate);
  }
}

void was_detached(pthread_t handle) {
  for (std::uint32_t number = 0; number < places_in_use(); ++number) {
    Place& candidate = places[number];
    const PlaceState state = candidate.state.load(std::memory_order_acquire);
    if (state == PlaceState::free || ::pthread_equal(candidate.handle.load(std::memory_order_relaxed), handle) == 0)
      continue;
    candidate.detached.store(true, std::memory_order_relaxed);
    PlaceState ended = PlaceState::ended;
    candidate.state.compare_exchange_strong(ended, PlaceState::free, std::memory_order_acq_rel);
    return;
  }
}

void begin_anew_in_child() {
  if (!is_recording()) return;
  leave_live_table();
  ::madvise(table.lines, (table.mask + 1) * sizeof(Line), MADV_DONTNEED);
  for (std::uint32_t number = 0; number < places_in_use(); ++number) {
    Place& old = places[number];
    if (old.received != nullptr) ::madvise(old.received, most_threads * sizeof(std::uint64_t), MADV_DONTNEED);
    forget_work(old);
    old.openmp_seen = false;
    old.state.store(PlaceState::free, std::memory_order_relaxed);
  }
  in_use.store(0, std::memory_order_relaxed);
  owner = ::getpid();
  is_fork_child = true;
  finished.store(false, std::memory_order_relaxed);
  self = Self{};
  occupy(take_place());
}

std::uint32_t places_in_use() {
  return in_use.load(std::memory_order_relaxed);
}

Place& place(std::uint32_t number) {
  return places[number];
}

void finish() {
  if (!is_recording() || ::getpid() != owner) return;
  // A child that was forked is usually a helper; only one with threads of its own is worth a file.
  if (is_fork_child && places_in_use() < 2) return;
  if (finished.exchange(true, std::memory_order_acq_rel)) return;
  end_live_table();
  write_recording(is_fork_child);
}

}  // namespace rankloom::threads
