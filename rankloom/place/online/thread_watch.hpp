// SPDX-License-Identifier: Apache-2.0
// place/online: the threads of one program, seen from outside: the recorder's table becomes windows of traffic and
// work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/capture/threads/live_threads.hpp"
#include "rankloom/place/online/traffic_pattern.hpp"

namespace rankloom {

/// Threads that work, by the recorder's numbers. One that only waits for others, such as the main thread of many
/// programs, is none: it needs no core.
class ThreadWatch {
 public:
  explicit ThreadWatch(std::string table) : path_(std::move(table)) {}

  /// The table is there.
  bool look();
  /// Reads all that was counted since the last time. True: another thread began to work; windows have more threads from
  /// here on.
  bool read(double now);
  /// What was read last. One row for each of numbers(); those that have ended meanwhile are silent.
  OnlineWindow window() const;
  /// Windows without loads, as NodeWatch has it.
  void leave_out_work() { with_work_ = false; }

  /// The recorder's numbers of the threads that work, rising.
  const std::vector<std::uint32_t>& numbers() const { return workers_; }
  /// Of the thread that has the number now; 0: none.
  std::uint32_t system_id(std::uint32_t number) const { return table_->system_id(number); }
  std::uint32_t process() const { return table_ ? table_->process() : 0; }
  bool is_running() const;

 private:
  struct Thread {
    std::uint32_t system_id = 0;
    double cpu = 0, load = 0;  // seconds, since it began and in the window
    int busy_windows = 0;
    bool works = false;
    std::vector<std::uint64_t> received, before;
  };
  std::string path_;
  std::unique_ptr<LiveThreads> table_;
  std::vector<Thread> threads_;  // by number
  std::vector<std::uint32_t> workers_;
  double begin_ = 0, end_ = 0;
  bool with_work_ = true;
};

}  // namespace rankloom
