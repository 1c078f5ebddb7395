// SPDX-License-Identifier: Apache-2.0
// place/online: observes the ranks of one node from outside: turns their records into windows of traffic and CPU time.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rankloom/capture/record/reading/live_rank_record.hpp"
#include "rankloom/place/online/phase_detector.hpp"

namespace rankloom {

class RankMonitor {
 public:
  /// `recording` is the value of RANKLOOM_RECORD_OUT. The records of the ranks are RECORDING.JOB.RANK; those of other
  /// hosts may be in the same directory. If there are several MPI jobs, the first one is observed.
  RankMonitor(const std::string& recording, std::string host);

  /// Looks for new ranks of this host and returns the number of ranks. Must not be called after start().
  std::size_t find_ranks();
  /// Begins the first window. Ranks of the node are numbered in the order of their world ranks.
  void start(double now);
  /// Ends the current window and begins the next one.
  TrafficWindow next_window(double now);
  /// Leaves loads out of the windows. CPU times are not meaningful if the machine has more cores than the host has
  /// processing units.
  void ignore_cpu_times() { use_cpu_times_ = false; }

  std::size_t count() const { return ranks_.size(); }
  std::uint32_t world_rank(std::size_t i) const { return ranks_[i].record->rank(); }
  std::uint32_t process(std::size_t i) const { return ranks_[i].record->process(); }
  /// At the end of the latest window.
  bool is_running(std::size_t i) const { return ranks_[i].running; }
  bool any_running() const;
  /// A rank used more than one processing unit at the same time, so it is multithreaded.
  bool any_threaded() const { return threaded_; }
  /// Number of reads during which the rank changed its counters; they are repeated in the next window.
  std::uint64_t inconsistent_reads() const { return inconsistent_reads_; }

 private:
  struct ObservedRank {
    std::unique_ptr<LiveRankRecord> record;
    LiveTotals totals;
    double cpu_seconds = 0;
    bool running = true;
  };
  void add_collectives(const ObservedRank& rank, const LiveTotals& change, Profile& profile) const;

  std::string directory_, prefix_, host_;
  std::set<std::string> opened_files_;
  std::vector<ObservedRank> ranks_;
  std::vector<std::uint32_t> local_;  // by world rank; `not_on_node` for ranks of other nodes
  double begin_ = 0;
  std::uint64_t inconsistent_reads_ = 0, windows_ = 0;
  bool threaded_ = false, use_cpu_times_ = true;
};

}  // namespace rankloom
