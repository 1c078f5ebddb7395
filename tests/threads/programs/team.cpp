// SPDX-License-Identifier: Apache-2.0
// A helper thread starts before the OpenMP team, which communicates as a chain: thread i reads the data of thread i-1.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <omp.h>

struct alignas(4096) Box {
  volatile long lines[32][8];
};
static Box boxes[4];

int main() {
  std::atomic<bool> stop{false};
  std::thread helper([&] {
    while (!stop) std::this_thread::yield();
  });
  for (int round = 0; round < 50; ++round) {
#pragma omp parallel num_threads(4)
    {
      const int me = omp_get_thread_num();
      for (auto& line : boxes[me].lines) line[1] = round;
#pragma omp barrier
      long sum = 0;
      if (me > 0) {
        for (const auto& line : boxes[me - 1].lines) sum += line[1];
      }
      if (me > 0 && sum != 32L * round) std::abort();
    }
  }
  stop = true;
  helper.join();
}
