// SPDX-License-Identifier: Apache-2.0
// allocate/workload: what the communication of a job costs on the nodes that it gets, for the replay. Mappers and
// predictions are not part of this stage, so the caller provides the model (see place/joint/joint_model.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/allocate/fit_options.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/ids.hpp"

namespace rankloom {

/// The communication of one iteration of a job on its nodes, in seconds.
struct PlacedCommunication {
  /// A channel of the network that messages of the job use.
  struct Use {
    std::uint32_t channel = 0;
    double seconds = 0;  ///< Which the channel needs for them.
  };
  double seconds = 0;          ///< If no other job runs.
  double transfer = 0;         ///< The part of `seconds` that the slowest transfer takes; the rest are latencies.
  std::vector<Use> uses = {};  ///< In ascending order of the channels.
};

class CommunicationModel {
 public:
  virtual ~CommunicationModel() = default;
  virtual std::uint32_t channel_count() const = 0;
  /// The communication time of one iteration as it was when the run time of the job was recorded: with the launcher's
  /// default placement on consecutive nodes of an idle machine. 0: the job does not communicate.
  virtual double recorded_seconds(const WorkloadJob& job) = 0;
  /// Seconds outside of communication in one iteration.
  virtual double computing_seconds(const WorkloadJob& job) = 0;
  /// The job on these nodes, which are in ascending order.
  virtual PlacedCommunication place(const WorkloadJob& job, std::span<const Node> nodes) = 0;
  /// The run times of this job, for closed-fit; valid until the next call. nullptr: the job does not communicate.
  virtual const RunTimeModel* run_time_model(const WorkloadJob& job) = 0;
};

}  // namespace rankloom
