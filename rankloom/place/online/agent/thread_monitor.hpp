// SPDX-License-Identifier: Apache-2.0
// place/online: observes the threads of one program from outside: turns the recorder's shared table into windows of
// traffic and CPU time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rankloom/capture/threads/live_threads.hpp"
#include "rankloom/place/online/phase_detector.hpp"

namespace rankloom {

/// Observes the threads that work. A thread that only waits for others, such as the main thread of many programs, needs
/// no core and is left out. Threads are identified by the recorder's numbers.
class ThreadMonitor {
 public:
  explicit ThreadMonitor(std::string table) : path_(std::move(table)) {}

  /// True: the table of the recorder exists and is open.
  bool open_table();
  /// Reads all counters. True: another thread started to work, so windows have more threads from now on.
  bool read(double now);
  /// The window between the last two reads, with one vertex for each of numbers(). Threads that have ended have no
  /// traffic.
  TrafficWindow window() const;
  /// Leaves loads out of the windows, as RankMonitor::ignore_cpu_times() does.
  void ignore_cpu_times() { use_cpu_times_ = false; }

  /// The recorder's numbers of the threads that work, in increasing order.
  const std::vector<std::uint32_t>& numbers() const { return workers_; }
  /// The operating system's id of the thread that currently has this number; 0: none.
  std::uint32_t system_id(std::uint32_t number) const { return table_->system_id(number); }
  std::uint32_t process() const { return table_ ? table_->process() : 0; }
  bool is_running() const;

 private:
  struct Thread {
    std::uint32_t system_id = 0;
    double cpu_seconds = 0, load = 0;  // since the thread began, and in the window
    int busy_windows = 0;
    bool works = false;
    std::vector<std::uint64_t> received, previously_received;
  };
  std::string path_;
  std::unique_ptr<LiveThreads> table_;
  std::vector<Thread> threads_;  // by number
  std::vector<std::uint32_t> workers_;
  double begin_ = 0, end_ = 0;
  bool use_cpu_times_ = true;
};

}  // namespace rankloom
