// SPDX-License-Identifier: Apache-2.0
// Threads read buffers of each other: of the neighbour in one phase, and of the thread at half the distance in the
// next. usage: thread_phases THREADS PHASES SECONDS. At the end each thread prints its binding as reported by the
// kernel.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

struct alignas(4096) Box {
  volatile long lines[64][8];
};

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int, char** argv) {
  const int threads = std::atoi(argv[1]), phases = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]);
  const auto boxes = std::make_unique<Box[]>(static_cast<std::size_t>(threads));
  std::barrier meet(threads);
  std::atomic<bool> go_on{true};
  std::vector<std::thread> all;
  for (int me = 0; me < threads; ++me) {
    all.emplace_back([&, me] {
      long sum = 0;
      for (int phase = 0; phase < phases; ++phase) {
        const double end = now() + seconds;
        const int from = (me + (phase % 2 == 0 ? 1 : threads / 2)) % threads;
        do {
          for (auto& line : boxes[me].lines) line[0] = phase;
          meet.arrive_and_wait();
          for (auto& line : boxes[from].lines) sum += line[0];
          const double until = now() + 0.001;  // computation
          while (now() < until) sum += 1;
          if (me == 0) go_on = now() < end;
          meet.arrive_and_wait();
        } while (go_on);
        meet.arrive_and_wait();
      }
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      int first = 0;
      while (!CPU_ISSET(first, &set)) ++first;
      std::printf("thread %d on %d of %d units %d\n", me, first, CPU_COUNT(&set), sum != 0);
    });
  }
  for (auto& thread : all) thread.join();
}
