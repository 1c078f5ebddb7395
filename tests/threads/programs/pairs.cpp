// SPDX-License-Identifier: Apache-2.0
// Four pairs of threads: the first of each fills a buffer of 64 lines, the second reads it, 100 times.
#include <cstdio>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

struct alignas(64) Line {
  long words[8];
};

struct Pair {
  std::vector<Line> buffer = std::vector<Line>(64);
  alignas(64) std::counting_semaphore<> full{0};
  alignas(64) std::counting_semaphore<> empty{1};
  alignas(64) long sum = 0;
};

int main() {
  constexpr int rounds = 100;
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<std::thread> threads;
  for (int which = 0; which < 4; ++which) {
    Pair* const pair = pairs.emplace_back(std::make_unique<Pair>()).get();
    threads.emplace_back([pair] {
      for (int round = 0; round < rounds; ++round) {
        pair->empty.acquire();
        for (Line& line : pair->buffer) line.words[round % 8] = round;
        pair->full.release();
      }
    });
    threads.emplace_back([pair] {
      for (int round = 0; round < rounds; ++round) {
        pair->full.acquire();
        for (const Line& line : pair->buffer) pair->sum += line.words[round % 8];
        pair->empty.release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& pair : pairs) {
    if (pair->sum != 64L * rounds * (rounds - 1) / 2) return 1;
  }
  std::puts("all sums are right");
}
