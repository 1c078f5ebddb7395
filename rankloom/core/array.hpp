// SPDX-License-Identifier: Apache-2.0
// core: an array for large data: like std::vector, but resize leaves numbers uninitialised, so that a parallel loop is
// the first to touch the memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <sys/mman.h>

namespace rankloom {

template <class T>
class UninitialisedAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  /// Allocations of 4 MiB and more use huge pages where the system has them: the page faults of 4 KiB pages cost more
  /// than filling the memory.
  T* allocate(std::size_t count) {
    if (count < large / sizeof(T)) return std::allocator<T>::allocate(count);
    if (count > (std::numeric_limits<std::size_t>::max() - huge_page) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t size = (count * sizeof(T) + huge_page - 1) / huge_page * huge_page;
    void* const memory = std::aligned_alloc(huge_page, size);
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, size, MADV_HUGEPAGE);  // only a request; failure is harmless
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count < large / sizeof(T)) {
      std::allocator<T>::deallocate(memory, count);
    } else {
      std::free(memory);
    }
  }
  template <class U>
  void construct(U* object) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(object)) U;
  }
  template <class U, class... Args>
  void construct(U* object, Args&&... args) {
    std::construct_at(object, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t large = 2 * huge_page;
};

template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace rankloom
