// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the writer of the LiveTable.
#include "rankloom/capture/threads/runtime/live_table_writer.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rankloom/capture/threads/live_table.hpp"
#include "rankloom/capture/threads/runtime/thread_registry.hpp"

namespace rankloom::threads {

static_assert(LiveTable::row_length == max_threads);

namespace {

constinit LiveTable* live = nullptr;

LiveThread* thread_of(std::uint32_t number) {
  return live != nullptr && number < LiveTable::rows ? &live->threads[number] : nullptr;
}

}  // namespace

void open_live_table() {
  const char* const path = std::getenv("RANKLOOM_THREADS_LIVE");
  if (path == nullptr || *path == '\0') return;
  const int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  // Allocates the whole file: a store into a page that a full disk cannot provide would end the program with SIGBUS.
  void* const memory = ::posix_fallocate(file, 0, LiveTable::bytes) == 0
                           ? ::mmap(nullptr, LiveTable::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  ::close(file);
  if (memory == MAP_FAILED) {
    ::unlink(path);
    return;
  }
  live = static_cast<LiveTable*>(memory);
  live->process = static_cast<std::uint32_t>(::getpid());
  live->ready.store(LiveTable::magic, std::memory_order_release);
}

std::uint64_t* live_row(std::uint32_t number) {
  return live != nullptr && number < LiveTable::rows ? live->row(number) : nullptr;
}

void publish_thread(std::uint32_t number, pid_t system_id) {
  LiveThread* const thread = thread_of(number);
  if (thread == nullptr) return;
  thread->system_id.store(system_id, std::memory_order_relaxed);
  std::uint32_t before = live->in_use.load(std::memory_order_relaxed);
  while (before <= number && !live->in_use.compare_exchange_weak(before, number + 1, std::memory_order_release)) {
  }
}

void publish_openmp_number(std::uint32_t number, int openmp_number) {
  if (LiveThread* const thread = thread_of(number); thread != nullptr)
    thread->openmp_number.store(openmp_number + 1, std::memory_order_relaxed);
}

void mark_live_table_ended() {
  if (live != nullptr) live->ended.store(1, std::memory_order_release);
}

void detach_live_table_after_fork() {
  if (live == nullptr) return;
  // The addresses of rows are in use, so private memory is mapped over them.
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(live, LiveTable::bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) live = nullptr;
}

}  // namespace rankloom::threads
