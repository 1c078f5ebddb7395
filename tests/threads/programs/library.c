// SPDX-License-Identifier: Apache-2.0
// A library that several threads call: add() accesses its cache line.
static _Alignas(64) volatile long sum;
long add(long what) {
  sum += what;
  return sum;
}
