// SPDX-License-Identifier: Apache-2.0
// capture/threads/interceptors: the functions that GCC and Clang call before every memory access with
// -fsanitize=thread.
#include "rankloom/capture/threads/runtime/cache_lines.hpp"

using rankloom::threads::line_of;
using rankloom::threads::read_bytes;
using rankloom::threads::read_line;
using rankloom::threads::write_bytes;
using rankloom::threads::write_line;

// An aligned access is within one line. A read-modify-write access is a write.
#define RANKLOOM_ALIGNED(size)                                        \
  RANKLOOM_CALLBACK void __tsan_read##size(void* address) {           \
    read_line(line_of(address));                                      \
  }                                                                   \
  RANKLOOM_CALLBACK void __tsan_write##size(void* address) {          \
    write_line(line_of(address));                                     \
  }                                                                   \
  RANKLOOM_CALLBACK void __tsan_read_write##size(void* address) {     \
    write_line(line_of(address));                                     \
  }                                                                   \
  RANKLOOM_CALLBACK void __tsan_volatile_read##size(void* address) {  \
    read_line(line_of(address));                                      \
  }                                                                   \
  RANKLOOM_CALLBACK void __tsan_volatile_write##size(void* address) { \
    write_line(line_of(address));                                     \
  }
RANKLOOM_ALIGNED(1)
RANKLOOM_ALIGNED(2)
RANKLOOM_ALIGNED(4)
RANKLOOM_ALIGNED(8)
RANKLOOM_ALIGNED(16)

// An unaligned access may span two lines.
#define RANKLOOM_UNALIGNED(size)                                                \
  RANKLOOM_CALLBACK void __tsan_unaligned_read##size(void* address) {           \
    read_bytes(address, size);                                                  \
  }                                                                             \
  RANKLOOM_CALLBACK void __tsan_unaligned_write##size(void* address) {          \
    write_bytes(address, size);                                                 \
  }                                                                             \
  RANKLOOM_CALLBACK void __tsan_unaligned_read_write##size(void* address) {     \
    write_bytes(address, size);                                                 \
  }                                                                             \
  RANKLOOM_CALLBACK void __tsan_unaligned_volatile_read##size(void* address) {  \
    read_bytes(address, size);                                                  \
  }                                                                             \
  RANKLOOM_CALLBACK void __tsan_unaligned_volatile_write##size(void* address) { \
    write_bytes(address, size);                                                 \
  }
RANKLOOM_UNALIGNED(2)
RANKLOOM_UNALIGNED(4)
RANKLOOM_UNALIGNED(8)
RANKLOOM_UNALIGNED(16)

RANKLOOM_CALLBACK void __tsan_read_range(void* address, std::size_t size) {
  read_bytes(address, size);
}
RANKLOOM_CALLBACK void __tsan_write_range(void* address, std::size_t size) {
  write_bytes(address, size);
}

RANKLOOM_CALLBACK void __tsan_vptr_read(void** address) {
  read_line(line_of(address));
}
/// Constructors set the vptr repeatedly. Only a change is a write, as in libtsan.
RANKLOOM_CALLBACK void __tsan_vptr_update(void** address, void* value) {
  if (*address != value) {
    write_line(line_of(address));
  } else {
    read_line(line_of(address));
  }
}

// The recorder does not need call stacks, and it counts ignored accesses too.
RANKLOOM_CALLBACK void __tsan_func_entry(void*) {}
RANKLOOM_CALLBACK void __tsan_func_exit() {}
RANKLOOM_CALLBACK void __tsan_ignore_thread_begin() {}
RANKLOOM_CALLBACK void __tsan_ignore_thread_end() {}
