// SPDX-License-Identifier: Apache-2.0
// allocate/workload: how running jobs slow each other down on the channels that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/allocate/workload/communication_model.hpp"

namespace rankloom {

/// A fluid model. A job computes for a fixed time in each iteration and then communicates, so it keeps a channel busy
/// for a fraction of the time. Other jobs get the rest of the channel, but at least their fair share of it. The
/// communication time of a job becomes longer if one of its channels then needs longer than its slowest transfer.
class SharedChannels {
 public:
  explicit SharedChannels(std::uint32_t channels) : busy_(channels), jobs_on_(channels) {}

  /// `computing`: seconds per iteration outside of communication. Returns the other jobs whose channels it uses.
  std::vector<std::uint32_t> add(std::uint32_t job, PlacedCommunication communication, double computing);
  std::vector<std::uint32_t> remove(std::uint32_t job);
  /// Seconds of communication per iteration, with the jobs that run now.
  double seconds(std::uint32_t job) const;

 private:
  struct Job {
    PlacedCommunication communication;
    double iteration = 0;  // seconds of one iteration alone
  };
  std::vector<std::uint32_t> sharing(std::uint32_t job) const;

  std::vector<double> busy_;                         // the fraction of time, by channel
  std::vector<std::vector<std::uint32_t>> jobs_on_;  // by channel
  std::vector<Job> jobs_;                            // by job; empty if it does not run
};

}  // namespace rankloom
