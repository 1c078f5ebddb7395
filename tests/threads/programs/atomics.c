// SPDX-License-Identifier: Apache-2.0
// Checks every atomic operation of every size; the exit status is the line of the first failure.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                      \
  do {                                                   \
    if (!(what)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
      exit(1);                                           \
    }                                                    \
  } while (0)

#define ORDER __ATOMIC_ACQ_REL
#define TRY(T)                                                                                             \
  do {                                                                                                     \
    static T value;                                                                                        \
    const T all = (T) ~(T)0;                                                                               \
    T expected = 5;                                                                                        \
    __atomic_store_n(&value, (T)4, __ATOMIC_RELEASE);                                                      \
    CHECK(__atomic_load_n(&value, __ATOMIC_ACQUIRE) == 4);                                                 \
    CHECK(__atomic_exchange_n(&value, (T)6, ORDER) == 4 && value == 6);                                    \
    CHECK(__atomic_fetch_add(&value, (T)3, ORDER) == 6 && value == 9);                                     \
    CHECK(__atomic_fetch_sub(&value, (T)10, ORDER) == 9 && value == all);                                  \
    CHECK(__atomic_fetch_and(&value, (T)12, ORDER) == all && value == 12);                                 \
    CHECK(__atomic_fetch_or(&value, (T)3, ORDER) == 12 && value == 15);                                    \
    CHECK(__atomic_fetch_xor(&value, (T)5, ORDER) == 15 && value == 10);                                   \
    CHECK(__atomic_fetch_nand(&value, (T)2, ORDER) == 10 && value == (T)~2);                               \
    CHECK(!__atomic_compare_exchange_n(&value, &expected, (T)1, 0, ORDER, __ATOMIC_RELAXED));              \
    CHECK(expected == (T)~2);                                                                              \
    CHECK(__atomic_compare_exchange_n(&value, &expected, (T)1, 0, ORDER, __ATOMIC_RELAXED) && value == 1); \
    expected = 1;                                                                                          \
    while (!__atomic_compare_exchange_n(&value, &expected, (T)2, 1, ORDER, __ATOMIC_RELAXED)) {            \
    }                                                                                                      \
    CHECK(__atomic_add_fetch(&value, (T)7, __ATOMIC_SEQ_CST) == 9);                                        \
    CHECK(__sync_val_compare_and_swap(&value, (T)9, (T)8) == 9 && value == 8);                             \
    CHECK(__sync_fetch_and_add(&value, (T)1) == 8);                                                        \
  } while (0)

int main(void) {
  TRY(uint8_t);
  TRY(uint16_t);
  TRY(uint32_t);
  TRY(uint64_t);
  TRY(unsigned __int128);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  static char flag;
  CHECK(!__atomic_test_and_set(&flag, __ATOMIC_ACQUIRE));
  __atomic_clear(&flag, __ATOMIC_RELEASE);
  CHECK(flag == 0);
  puts("right");
  return 0;
}
