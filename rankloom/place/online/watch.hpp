// SPDX-License-Identifier: Apache-2.0
// place/online: the ranks of one node, seen from outside: their images become windows of traffic and of work.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rankloom/capture/record/live_image.hpp"
#include "rankloom/place/online/traffic_pattern.hpp"

namespace rankloom {

class NodeWatch {
 public:
  /// `recording` as RANKLOOM_RECORD_OUT names it: images are recording.0, recording.1, … of all hosts that see the
  /// folder.
  NodeWatch(std::string recording, std::string host);

  /// Takes in ranks of this host that are new; how many there are. After start() none is taken in any more.
  std::size_t look();
  /// From here on windows are counted. The ranks are numbered by their rank in the world.
  void start(double now);
  OnlineWindow next(double now);
  /// Windows without loads: CPU times of a host say nothing of a machine that has more cores than the host has units.
  void leave_out_work() { with_work_ = false; }

  std::size_t count() const { return ranks_.size(); }
  std::uint32_t world_rank(std::size_t i) const { return ranks_[i].image->rank(); }
  std::uint32_t process(std::size_t i) const { return ranks_[i].image->process(); }
  /// As of the latest window.
  bool is_running(std::size_t i) const { return ranks_[i].running; }
  bool any_running() const;
  /// A rank used more than one processing unit at once: it has threads of its own.
  bool any_threaded() const { return threaded_; }
  /// Ranks whose tables could not be read whole in a window; they are read again in the next.
  std::uint64_t torn() const { return torn_; }

 private:
  struct Watched {
    std::unique_ptr<LiveImage> image;
    LiveTotals totals;
    double cpu = 0;
    bool running = true;
  };
  void add_calls(const Watched& rank, const LiveTotals& change, Profile& said) const;

  std::string folder_, prefix_, host_;
  std::set<std::string> seen_;
  std::vector<Watched> ranks_;
  std::vector<std::uint32_t> local_;  // by rank in the world; others are `elsewhere`
  double begin_ = 0;
  std::uint64_t torn_ = 0, windows_ = 0;
  bool threaded_ = false, with_work_ = true;
};

}  // namespace rankloom
