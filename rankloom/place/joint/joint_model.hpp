// SPDX-License-Identifier: Apache-2.0
// place/joint: the communication of the jobs of a workload, by generated patterns, a mapper and the analytic
// prediction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/allocate/workload/communication_model.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/joint/job_fit.hpp"
#include "rankloom/place/joint/traffic_mapper.hpp"

namespace rankloom {

/// The patterns that jobs get if none are named: halo exchanges in two and three dimensions, a ring, wavefronts,
/// clusters, random pairs, and an exchange of all ranks. Their ranks are numbered as a program would number them.
std::span<const std::string_view> default_job_patterns();

/// Splits a list at the commas before names of patterns: "stencil3d:points=27,halo=2@0.3,ring" has two.
std::vector<std::string> split_patterns(std::string_view list);

/// The traffic of a pattern of `rankloom gen` for this number of ranks: "stencil3d:points=27".
Result<CommGraph> pattern_graph(const std::string& pattern, std::uint64_t ranks);

class JointModel final : public CommunicationModel {
 public:
  /// The machine must outlive the model. Fails for unknown patterns and mappers.
  static Result<std::unique_ptr<JointModel>> create(const AllocationMachine& machine,
                                                    std::vector<Application> applications, std::string_view mapper);

  std::uint32_t channel_count() const override;
  double recorded_seconds(const WorkloadJob& job) override;
  double computing_seconds(const WorkloadJob& job) override;
  PlacedCommunication place(const WorkloadJob& job, std::span<const Node> nodes) override;
  const RunTimeModel* run_time_model(const WorkloadJob& job) override;

  const TrafficMapper& mapper() const { return mapper_; }

 private:
  /// A pattern with a number of ranks.
  struct Traffic {
    std::uint64_t id = 0;
    CommGraph graph;
    double recorded = 0;  // seconds
  };

  JointModel(const AllocationMachine& machine, std::vector<Application> applications, TrafficMapper mapper);
  /// nullptr: the communication of the job is not known. Valid until the next call.
  const Traffic* traffic_of(const WorkloadJob& job);

  const AllocationMachine* machine_;
  std::vector<Application> applications_;
  TrafficMapper mapper_;
  std::unordered_map<std::string, std::uint64_t> ids_;                // by pattern and ranks
  std::unordered_map<std::uint64_t, std::unique_ptr<Traffic>> kept_;  // by id
  std::uint64_t kept_edges_ = 0;
  std::optional<JobFit> fit_;
};

}  // namespace rankloom
