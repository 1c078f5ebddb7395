/* SPDX-License-Identifier: Apache-2.0
 * Every rank adds numbers with the threads of OpenMP, which remain until the program ends. */
#include "program.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < 1000; ++i) total += i;
  take(&total, sizeof total);
  return finish();
}
