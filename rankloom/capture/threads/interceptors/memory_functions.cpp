// SPDX-License-Identifier: Apache-2.0
// capture/threads/interceptors: memcpy, memmove, memset and similar functions. Compilers do not instrument calls of
// them, so these functions replace those of the C library: they count the lines of both ranges and call the original
// function.
#include <cstddef>

#include <dlfcn.h>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

using rankloom::threads::read_bytes;
using rankloom::threads::write_bytes;

namespace {

using Copy = void*(void*, const void*, std::size_t);
using Fill = void*(void*, int, std::size_t);

struct RealFunctions {
  Copy* memcpy = nullptr;
  Copy* memmove = nullptr;
  Fill* memset = nullptr;
};
constinit RealFunctions real;

/// Runs early, because constructors of other libraries may copy memory. Before, the loops below do the work.
__attribute__((constructor(101))) void find_real_functions() {
  real.memmove = reinterpret_cast<Copy*>(::dlsym(RTLD_NEXT, "memmove"));
  real.memset = reinterpret_cast<Fill*>(::dlsym(RTLD_NEXT, "memset"));
  real.memcpy = reinterpret_cast<Copy*>(::dlsym(RTLD_NEXT, "memcpy"));
}

void* copy(Copy* function, void* to, const void* from, std::size_t size) {
  read_bytes(from, size);
  write_bytes(to, size);
  if (function != nullptr) [[likely]]
    return function(to, from, size);
  auto* const target = static_cast<volatile char*>(to);
  const auto* const source = static_cast<const volatile char*>(from);
  if (to < from) {
    for (std::size_t at = 0; at < size; ++at) target[at] = source[at];
  } else {
    for (std::size_t at = size; at > 0; --at) target[at - 1] = source[at - 1];
  }
  return to;
}

void* fill(void* to, int value, std::size_t size) {
  write_bytes(to, size);
  if (real.memset != nullptr) [[likely]]
    return real.memset(to, value, size);
  auto* const target = static_cast<volatile char*>(to);
  for (std::size_t at = 0; at < size; ++at) target[at] = static_cast<char>(value);
  return to;
}

void* end_of(void* begin, std::size_t size) {
  return static_cast<char*>(begin) + size;
}

}  // namespace

RANKLOOM_CALLBACK void* memcpy(void* to, const void* from, std::size_t size) {
  return copy(real.memcpy, to, from, size);
}
RANKLOOM_CALLBACK void* memmove(void* to, const void* from, std::size_t size) {
  return copy(real.memmove, to, from, size);
}
RANKLOOM_CALLBACK void* mempcpy(void* to, const void* from, std::size_t size) {
  return end_of(copy(real.memcpy, to, from, size), size);
}
RANKLOOM_CALLBACK void* memset(void* to, int value, std::size_t size) {
  return fill(to, value, size);
}

// Clang calls these names.
RANKLOOM_CALLBACK void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  return copy(real.memcpy, to, from, size);
}
RANKLOOM_CALLBACK void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  return copy(real.memmove, to, from, size);
}
RANKLOOM_CALLBACK void* __tsan_memset(void* to, int value, std::size_t size) {
  return fill(to, value, size);
}

// With _FORTIFY_SOURCE. A call that overflows its buffer goes to the C library, which ends the program.
#define RANKLOOM_CHECKED(name, T)                                                                       \
  RANKLOOM_CALLBACK void* __##name##_chk(void* to, T what, std::size_t size, std::size_t capacity) {    \
    if (size <= capacity) [[likely]]                                                                    \
      return name(to, what, size);                                                                      \
    using Checked = void*(void*, T, std::size_t, std::size_t);                                          \
    return reinterpret_cast<Checked*>(::dlsym(RTLD_NEXT, "__" #name "_chk"))(to, what, size, capacity); \
  }
RANKLOOM_CHECKED(memcpy, const void*)
RANKLOOM_CHECKED(memmove, const void*)
RANKLOOM_CHECKED(mempcpy, const void*)
RANKLOOM_CHECKED(memset, int)
