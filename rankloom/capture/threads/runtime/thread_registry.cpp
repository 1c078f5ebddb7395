// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the threads of the program.
#include "rankloom/capture/threads/runtime/thread_registry.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/capture/threads/runtime/live_table_writer.hpp"
#include "rankloom/capture/threads/runtime/profile_writer.hpp"
#include "rankloom/capture/threads/runtime/thread_work.hpp"

// Functions of the OpenMP runtime, if the program has one. LLVM's runtime is detected by __kmpc_fork_call: its
// functions may not be called from everywhere, and it numbers threads in the order of creation anyway.
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
constinit ThreadEntry entries[max_threads];
constinit std::atomic<std::uint32_t> in_use{0};
constinit std::atomic<bool> finished{false};
constinit pid_t owner = 0;  // the recording process; a child of vfork shares its memory but is another process
constinit bool is_fork_child = false;
pthread_key_t exit_key;

void* map_zeros(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

pid_t system_id() {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

void on_thread_exit(void* value) {
  ThreadEntry& ending = *static_cast<ThreadEntry*>(value);
  accumulate_work(ending);
  publish_thread(static_cast<std::uint32_t>(&ending - entries), 0);
  if (ending.detached.load(std::memory_order_relaxed)) {
    release_entry(ending);
  } else {
    ending.state.store(ThreadState::ended, std::memory_order_release);
  }
}

}  // namespace

void start() {
  Stage expected = Stage::none;
  if (!stage.compare_exchange_strong(expected, Stage::starting, std::memory_order_acq_rel)) return;
  owner = ::getpid();
  const std::uint64_t lines = read_settings();
  auto* const memory = static_cast<Line*>(map_zeros(lines * sizeof(Line)));
  if (memory == nullptr || ::pthread_key_create(&exit_key, on_thread_exit) != 0)
    return;  // the stage stays `starting`: nothing is recorded
  open_live_table();
  table.lines = memory;
  table.mask = lines - 1;
  entries[0].state.store(
      ThreadState::taken,
      std::memory_order_relaxed);  // reserved for the main thread, even if another thread registers first
  in_use.store(1, std::memory_order_relaxed);
  stage.store(Stage::recording, std::memory_order_release);
}

bool is_recording() {
  return stage.load(std::memory_order_acquire) == Stage::recording;
}

bool register_thread() {
  start();
  if (!is_recording()) return false;
  const bool main_thread = system_id() == owner;
  ThreadEntry& entry = main_thread ? entries[0] : allocate_entry();
  // The thread was not created by pthread_create or thrd_create, so its join is not observed.
  if (!main_thread) entry.detached.store(true, std::memory_order_relaxed);
  return attach_thread(entry);
}

ThreadEntry& allocate_entry() {
  std::uint32_t number = 0;
  for (; number + 1 < max_threads; ++number) {
    ThreadState expected = ThreadState::free;
    if (entries[number].state.compare_exchange_strong(expected, ThreadState::taken, std::memory_order_acq_rel)) break;
  }
  std::uint32_t before = in_use.load(std::memory_order_relaxed);
  while (before <= number && !in_use.compare_exchange_weak(before, number + 1, std::memory_order_relaxed)) {
  }
  entries[number].handle.store(0, std::memory_order_relaxed);
  entries[number].detached.store(false, std::memory_order_relaxed);
  return entries[number];
}

void release_entry(ThreadEntry& entry) {
  entry.state.store(ThreadState::free, std::memory_order_release);
}

bool attach_thread(ThreadEntry& entry) {
  const auto number = static_cast<std::uint64_t>(&entry - entries);
  if (entry.received == nullptr) entry.received = live_row(static_cast<std::uint32_t>(number));
  if (entry.received == nullptr)
    entry.received = static_cast<std::uint64_t*>(map_zeros(max_threads * sizeof(std::uint64_t)));
  if (entry.received == nullptr) return false;
  entry.handle.store(::pthread_self(), std::memory_order_relaxed);
  entry.system_id = system_id();
  publish_thread(static_cast<std::uint32_t>(number), entry.system_id);
  self.number = number;
  open_work_counters(entry);
  entry.state.store(ThreadState::running, std::memory_order_release);
  self.received = entry.received;
  self.openmp_unknown = omp_get_level != nullptr && omp_get_thread_num != nullptr && __kmpc_fork_call == nullptr;
  self.table = table;
  self.bit = std::uint64_t{1} << number % 64;
  ::pthread_setspecific(exit_key, &entry);
  return true;
}

void record_openmp_number() {
  if (omp_get_level() != 1) return;
  self.openmp_unknown = false;
  entries[self.number].openmp_number = omp_get_thread_num();
  entries[self.number].openmp_seen = true;
  publish_openmp_number(static_cast<std::uint32_t>(self.number), entries[self.number].openmp_number);
}

void thread_joined(pthread_t handle) {
  for (std::uint32_t number = 1; number < entry_count(); ++number) {
    ThreadEntry& candidate = entries[number];
    // pthread_t handles are reused: a joined thread is one that has ended.
    if (candidate.state.load(std::memory_order_acquire) == ThreadState::ended &&
        ::pthread_equal(candidate.handle.load(std::memory_order_relaxed), handle) != 0)
      return release_entry(candidate);
  }
}

void thread_detached(pthread_t handle) {
  for (std::uint32_t number = 0; number < entry_count(); ++number) {
    ThreadEntry& candidate = entries[number];
    const ThreadState state = candidate.state.load(std::memory_order_acquire);
    if (state == ThreadState::free || ::pthread_equal(candidate.handle.load(std::memory_order_relaxed), handle) == 0)
      continue;
    candidate.detached.store(true, std::memory_order_relaxed);
    ThreadState ended = ThreadState::ended;
    candidate.state.compare_exchange_strong(ended, ThreadState::free, std::memory_order_acq_rel);
    return;
  }
}

void reset_after_fork() {
  if (!is_recording()) return;
  detach_live_table_after_fork();
  ::madvise(table.lines, (table.mask + 1) * sizeof(Line), MADV_DONTNEED);
  for (std::uint32_t number = 0; number < entry_count(); ++number) {
    ThreadEntry& old = entries[number];
    if (old.received != nullptr) ::madvise(old.received, max_threads * sizeof(std::uint64_t), MADV_DONTNEED);
    reset_work(old);
    old.openmp_seen = false;
    old.state.store(ThreadState::free, std::memory_order_relaxed);
  }
  in_use.store(0, std::memory_order_relaxed);
  owner = ::getpid();
  is_fork_child = true;
  finished.store(false, std::memory_order_relaxed);
  self = Self{};
  attach_thread(allocate_entry());
}

std::uint32_t entry_count() {
  return in_use.load(std::memory_order_relaxed);
}

ThreadEntry& thread_entry(std::uint32_t number) {
  return entries[number];
}

void finish() {
  if (!is_recording() || ::getpid() != owner) return;
  // A forked child writes a profile only if it created threads.
  if (is_fork_child && entry_count() < 2) return;
  if (finished.exchange(true, std::memory_order_acq_rel)) return;
  mark_live_table_ended();
  write_profile_file(is_fork_child);
}

}  // namespace rankloom::threads
