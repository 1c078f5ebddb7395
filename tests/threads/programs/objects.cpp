// SPDX-License-Identifier: Apache-2.0
// Features of C++: virtual calls, exceptions in and across threads, static and thread_local objects, detached threads
// and std::async.
#include <atomic>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Square : Shape {
  int corners() const override { return 4; }
};
struct Star : virtual Shape {
  std::vector<int> rays = std::vector<int>(5, 2);
  int corners() const override { return std::accumulate(rays.begin(), rays.end(), 0); }
};

std::map<std::string, int> made_before_main = {{"threads", 3}, {"rounds", 4}};
struct EndsLate {
  std::string text = "a text that is too long to be kept inline in the object itself";
  ~EndsLate() { std::printf("%zu\n", text.size() + made_before_main.size()); }
};
EndsLate ends_late;
std::atomic<int> ended{0};
struct EndsWithThread {
  std::string text = "another text that is too long to be kept inline in the object";
  ~EndsWithThread() { ended += static_cast<int>(!text.empty()); }
};
thread_local EndsWithThread ends_with_thread;

int depth(int n) {
  if (n == 0) throw std::runtime_error("deep " + ends_with_thread.text.substr(0, 7));
  return depth(n - 1) + static_cast<int>(ends_with_thread.text.size());
}

void* leave_early(void*) {
  const EndsWithThread& mine = ends_with_thread;
  if (!mine.text.empty()) pthread_exit(&ended);
  return nullptr;
}

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 10; ++i)
    shapes.push_back(i % 2 == 0 ? std::unique_ptr<Shape>(new Square) : std::make_unique<Star>());
  std::mutex mutex;
  int corners = 0, caught = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < made_before_main["threads"]; ++i) {
    threads.emplace_back([&] {
      for (const auto& shape : shapes) {
        const std::lock_guard lock(mutex);
        corners += shape->corners();
      }
      try {
        depth(50);
      } catch (const std::runtime_error& error) {
        const std::lock_guard lock(mutex);
        caught += std::string(error.what()) == "deep another";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto later = std::async(std::launch::async, []() -> int { throw std::logic_error("from afar"); });
  bool came = false;
  try {
    later.get();
  } catch (const std::logic_error&) {
    came = true;
  }
  pthread_t early;
  void* value = nullptr;
  pthread_create(&early, nullptr, leave_early, nullptr);
  pthread_join(early, &value);
  std::promise<void> done;
  std::thread([&] { done.set_value_at_thread_exit(); }).detach();
  done.get_future().wait();
  std::printf("%d %d %d %d %d\n", corners, caught, came ? 1 : 0, value == &ended ? 1 : 0, ended.load());
}
