// SPDX-License-Identifier: Apache-2.0
// A ring of std::threads: in every round each writes its box of 16 lines and then reads that of the thread before it.
// With the argument "new threads", every round creates new threads.
#include <cstring>
#include <thread>
#include <vector>

#include <pthread.h>

#ifndef MEMBERS
#define MEMBERS 6
#endif
constexpr int members = MEMBERS, rounds = 60;

struct alignas(4096) Box {
  volatile long lines[16][8];
};
Box boxes[members];
pthread_barrier_t barrier;

void fill(int me, int round) {
  for (auto& line : boxes[me].lines) line[0] = round;
}

bool look(int me, int round) {
  bool right = true;
  for (const auto& line : boxes[(me + members - 1) % members].lines) right = right && line[0] == round;
  return right;
}

int main(int argc, char** argv) {
  const bool new_threads = argc > 1 && std::strcmp(argv[1], "new threads") == 0;
  pthread_barrier_init(&barrier, nullptr, members);
  struct alignas(64) Verdict {
    bool wrong = false;
  };
  std::vector<Verdict> verdicts(members);
  const auto take_part = [&](int me, int from, int to) {
    for (int round = from; round < to; ++round) {
      fill(me, round);
      pthread_barrier_wait(&barrier);
      if (!look(me, round)) verdicts[me].wrong = true;
      pthread_barrier_wait(&barrier);
    }
  };
  for (int from = 0; from < rounds; from += new_threads ? 1 : rounds) {
    std::vector<std::thread> threads;
    for (int me = 0; me < members; ++me) threads.emplace_back(take_part, me, from, new_threads ? from + 1 : rounds);
    for (std::thread& thread : threads) thread.join();
  }
  for (const Verdict& verdict : verdicts) {
    if (verdict.wrong) return 1;
  }
}
