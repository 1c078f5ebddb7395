// SPDX-License-Identifier: Apache-2.0
// A library that threads of the program share: who calls add() touches its line.
static _Alignas(64) volatile long sum;
long add(long what) {
  sum += what;
  return sum;
}
