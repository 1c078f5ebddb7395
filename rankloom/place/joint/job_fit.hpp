// SPDX-License-Identifier: Apache-2.0
// place/joint: the run time of one job on sets of nodes, for the policy closed-fit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rankloom/allocate/fit_options.hpp"
#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/place/joint/traffic_mapper.hpp"

namespace rankloom {

/// The share of communication of a job if neither its profile nor its user knows it.
inline constexpr double default_communication = 0.3;

/// The time in MPI as a share of the run time; nothing if it was not recorded.
std::optional<double> recorded_share(const Profile& profile);

/// Predicted seconds of communication on the first nodes of the machine in block order, the run to which the share of
/// communication belongs. Nothing if the machine has too few nodes.
std::optional<double> default_seconds(const TrafficMapper& mapper, const AllocationMachine& machine,
                                      const CommGraph& graph, std::uint32_t nodes);

/// Relative to a run in which the communication of an iteration takes `reference` seconds and is the fraction
/// `communication` of the run time: 1 - communication + communication x seconds / reference.
class JobFit final : public RunTimeModel {
 public:
  /// The mapper and the graph of the job must outlive it.
  JobFit(TrafficMapper& mapper, const JobTraffic& job, double communication, double reference)
      : mapper_(&mapper), job_(job), communication_(communication), reference_(reference) {}

  double run_time(std::span<const Node> nodes, const Deadline& deadline) const override {
    if (!(reference_ > 0)) return 1;
    return 1 - communication_ + communication_ * mapper_->estimate(job_, nodes, deadline) / reference_;
  }

  std::size_t max_sets(std::size_t nodes) const override { return mapper_->affordable_sets(job_, nodes); }

 private:
  TrafficMapper* mapper_;
  JobTraffic job_;
  double communication_, reference_;
};

}  // namespace rankloom
