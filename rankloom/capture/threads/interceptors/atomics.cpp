// SPDX-License-Identifier: Apache-2.0
// capture/threads/interceptors: atomic operations. -fsanitize=thread replaces them by calls of these functions, which
// perform and count them. All are sequentially consistent, whatever order the program requests: a stronger order is
// always correct, and the function call costs more than the order.
#include "rankloom/capture/threads/runtime/cache_lines.hpp"

using rankloom::threads::line_of;
using rankloom::threads::read_line;
using rankloom::threads::write_line;

namespace {

constexpr int seq_cst = __ATOMIC_SEQ_CST;
__extension__ using Bits128 = unsigned __int128;

/// Compiler builtins for up to 8 bytes.
template <class T>
struct Native {
  static T load(const volatile T* at) { return __atomic_load_n(at, seq_cst); }
  static void store(volatile T* at, T value) { __atomic_store_n(at, value, seq_cst); }
  static bool compare_exchange(volatile T* at, T* expected, T value) {
    return __atomic_compare_exchange_n(at, expected, value, false, seq_cst, seq_cst);
  }
  template <class Change>
  static T change(volatile T* at, Change make) {
    T before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!compare_exchange(at, &before, make(before))) {
    }
    return before;
  }
};

/// 16 bytes: every operation by compare-and-swap, which does not need libatomic.
struct Native128 {
  using T = Bits128;
  static T load(const volatile T* at) {
    auto* const target = const_cast<volatile T*>(at);
    return __sync_val_compare_and_swap(target, T{0}, T{0});
  }
  static void store(volatile T* at, T value) {
    change(at, [value](T) { return value; });
  }
  static bool compare_exchange(volatile T* at, T* expected, T value) {
    const T before = *expected;
    *expected = __sync_val_compare_and_swap(at, before, value);
    return *expected == before;
  }
  template <class Change>
  static T change(volatile T* at, Change make) {
    T before = load(at);
    while (!compare_exchange(at, &before, make(before))) {
    }
    return before;
  }
};

/// A failed compare-and-swap is a read, a successful one is a write.
template <class How, class T>
bool compare_exchange(volatile T* at, T* expected, T value) {
  const bool swapped = How::compare_exchange(at, expected, value);
  if (swapped) {
    write_line(line_of(at));
  } else {
    read_line(line_of(at));
  }
  return swapped;
}

template <class How, class T, class Change>
T change(volatile T* at, Change make) {
  write_line(line_of(at));
  return How::change(at, make);
}

}  // namespace

#define RANKLOOM_FETCH(bits, T, How, name, expression)                                \
  RANKLOOM_CALLBACK T __tsan_atomic##bits##_##name(volatile T* at, T value, int) {    \
    return change<How>(at, [value](T before) { return static_cast<T>(expression); }); \
  }
#define RANKLOOM_ATOMIC(bits, T, How)                                                                                 \
  RANKLOOM_CALLBACK T __tsan_atomic##bits##_load(const volatile T* at, int) {                                         \
    read_line(line_of(at));                                                                                           \
    return How::load(at);                                                                                             \
  }                                                                                                                   \
  RANKLOOM_CALLBACK void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                                  \
    write_line(line_of(at));                                                                                          \
    How::store(at, value);                                                                                            \
  }                                                                                                                   \
  RANKLOOM_FETCH(bits, T, How, exchange, (static_cast<void>(before), value))                                          \
  RANKLOOM_FETCH(bits, T, How, fetch_add, before + value)                                                             \
  RANKLOOM_FETCH(bits, T, How, fetch_sub, before - value)                                                             \
  RANKLOOM_FETCH(bits, T, How, fetch_and, before& value)                                                              \
  RANKLOOM_FETCH(bits, T, How, fetch_or, before | value)                                                              \
  RANKLOOM_FETCH(bits, T, How, fetch_xor, before ^ value)                                                             \
  RANKLOOM_FETCH(bits, T, How, fetch_nand, ~(before & value))                                                         \
  RANKLOOM_CALLBACK int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T value, int,      \
                                                                      int) {                                          \
    return compare_exchange<How>(at, expected, value) ? 1 : 0;                                                        \
  }                                                                                                                   \
  RANKLOOM_CALLBACK int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T value, int, int) { \
    return compare_exchange<How>(at, expected, value) ? 1 : 0;                                                        \
  }                                                                                                                   \
  RANKLOOM_CALLBACK T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T value, int, int) {     \
    compare_exchange<How>(at, &expected, value);                                                                      \
    return expected;                                                                                                  \
  }

RANKLOOM_ATOMIC(8, std::uint8_t, Native<std::uint8_t>)
RANKLOOM_ATOMIC(16, std::uint16_t, Native<std::uint16_t>)
RANKLOOM_ATOMIC(32, std::uint32_t, Native<std::uint32_t>)
RANKLOOM_ATOMIC(64, std::uint64_t, Native<std::uint64_t>)
RANKLOOM_ATOMIC(128, Bits128, Native128)

RANKLOOM_CALLBACK void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(seq_cst);
}
RANKLOOM_CALLBACK void __tsan_atomic_signal_fence(int) {
  __atomic_signal_fence(seq_cst);
}
