// SPDX-License-Identifier: Apache-2.0
// core: an array for large data: like std::vector, but resize leaves numbers uninitialised, so that a parallel loop is
// the first to touch the memory, and what is reserved takes no memory until it is touched.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "rankloom/core/memory/pages.hpp"

namespace rankloom {

template <class T>
class UninitialisedAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  /// Allocations of 1 MiB and more are pages of their own.
  T* allocate(std::size_t count) {
    if (count < large / sizeof(T)) return std::allocator<T>::allocate(count);
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_pages(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) {
    if (count < large / sizeof(T)) {
      std::allocator<T>::deallocate(memory, count);
    } else {
      free_pages(memory, count * sizeof(T));
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
  static constexpr std::size_t large = std::size_t{1} << 20;
};

template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace rankloom
