/* SPDX-License-Identifier: Apache-2.0
 * packaging/portable: what the C++ library of GCC 12 expects from a C library newer than 2.31. Hidden, so that other
 * libraries of the process use those of their own C library. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* 2.32: whether the process has a single thread, so that reference counts need no atomic instructions. 0 is always right. */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

/* 2.36: std::random_device. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}
