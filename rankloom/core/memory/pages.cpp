// SPDX-License-Identifier: Apache-2.0
// core/memory: pages of memory for large arrays.
#include "rankloom/core/memory/pages.hpp"

#include <limits>
#include <memory>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

namespace rankloom {

namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

void* allocate_pages(std::size_t size) {
  // Huge pages begin at multiples of their size. What is mapped before the first one and after the array is unmapped
  // again.
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  if (size > std::numeric_limits<std::size_t>::max() - 2 * huge_page) throw std::bad_alloc();
  const std::size_t used = (size + page_size() - 1) / page_size() * page_size();
  void* const mapped = ::mmap(nullptr, used + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  void* aligned = mapped;
  std::size_t space = used + huge_page;
  std::align(huge_page, used, aligned, space);
  if (const std::size_t before = used + huge_page - space; before > 0) ::munmap(mapped, before);
  if (space > used) ::munmap(static_cast<std::byte*>(aligned) + used, space - used);
  // A huge page is used as a whole, also if an array has reserved more than it uses.
  constexpr std::size_t many = 4 * huge_page;
  if (used >= many) ::madvise(aligned, used, MADV_HUGEPAGE);  // only a request; failure is harmless
  return aligned;
}

void free_pages(void* memory, std::size_t size) {
  ::munmap(memory, size);
}

void release_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace rankloom
