// SPDX-License-Identifier: Apache-2.0
// core: an array for big data: like std::vector, but resize leaves numbers unset, so that a parallel loop can be the
// first to touch the memory.
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
class UnsetAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UnsetAllocator<U>;
  };
  /// From 4 MiB on, memory comes in huge pages where the system has them: a first touch of 4 KiB pages costs more than
  /// filling them.
  T* allocate(std::size_t count) {
    if (count < large / sizeof(T)) return std::allocator<T>::allocate(count);
    if (count > (std::numeric_limits<std::size_t>::max() - huge_page) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t size = (count * sizeof(T) + huge_page - 1) / huge_page * huge_page;
    void* const place = std::aligned_alloc(huge_page, size);
    if (place == nullptr) throw std::bad_alloc();
    ::madvise(place, size, MADV_HUGEPAGE);  // a wish; refused, nothing is lost
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t count) {
    if (count < large / sizeof(T)) {
      std::allocator<T>::deallocate(place, count);
    } else {
      std::free(place);
    }
  }
  template <class U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    std::construct_at(place, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t large = 2 * huge_page;
};

template <class T>
using Array = std::vector<T, UnsetAllocator<T>>;

}  // namespace rankloom
