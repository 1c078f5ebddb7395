// SPDX-License-Identifier: Apache-2.0
// A five-point stencil over rows that OpenMP distributes in blocks: neighbours in the team share the rows at their
// boundary. stencil [rows [steps]]
#include <stdio.h>
#include <stdlib.h>

enum { columns = 512 };

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 64, steps = argc > 2 ? atoi(argv[2]) : 40;
  const size_t size = (size_t)rows * columns * sizeof(double);
  double* old = aligned_alloc(64, size);
  double* new = aligned_alloc(64, size);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) old[i * columns + j] = new[i * columns + j] = i + j;
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel for schedule(static)
    for (int i = 1; i < rows - 1; ++i)
      for (int j = 1; j < columns - 1; ++j)
        new[i * columns + j] = 0.25 * (old[i * columns + j - 1] + old[i * columns + j + 1] +
                                       old[(i - 1) * columns + j] + old[(i + 1) * columns + j]);
    double* const swap = old;
    old = new;
    new = swap;
  }
  printf("%g\n", old[rows / 2 * columns + 7]);
  return 0;
}
