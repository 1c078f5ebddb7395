// SPDX-License-Identifier: Apache-2.0
// capture/threads: reads the LiveTable of a running program.
#include "rankloom/capture/threads/live_threads.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/capture/threads/live_table.hpp"

namespace rankloom {

std::unique_ptr<LiveThreads> LiveThreads::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status {};
  const bool complete =
      ::fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) >= threads::LiveTable::bytes;
  void* const memory =
      complete ? ::mmap(nullptr, threads::LiveTable::bytes, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<LiveThreads> threads_of_program(new LiveThreads(static_cast<const threads::LiveTable*>(memory)));
  return threads_of_program->table_->ready.load(std::memory_order_acquire) == threads::LiveTable::magic
             ? std::move(threads_of_program)
             : nullptr;
}

LiveThreads::~LiveThreads() {
  ::munmap(const_cast<threads::LiveTable*>(table_), threads::LiveTable::bytes);
}

std::uint32_t LiveThreads::process() const {
  return table_->process;
}

bool LiveThreads::ended() const {
  return table_->ended.load(std::memory_order_acquire) != 0;
}

std::uint32_t LiveThreads::numbers() const {
  return std::min(table_->in_use.load(std::memory_order_acquire), threads::LiveTable::rows);
}

std::uint32_t LiveThreads::system_id(std::uint32_t number) const {
  return static_cast<std::uint32_t>(table_->threads[number].system_id.load(std::memory_order_relaxed));
}

std::vector<std::uint64_t> LiveThreads::received(std::uint32_t number, std::uint32_t from) const {
  std::vector<std::uint64_t> lines(from);
  // Each counter is one word that only its thread writes.
  const volatile std::uint64_t* const row = table_->row(number);
  for (std::uint32_t i = 0; i < from; ++i) lines[i] = row[i];
  return lines;
}

}  // namespace rankloom
