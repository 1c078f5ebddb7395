// SPDX-License-Identifier: Apache-2.0
// allocate/workload: moldable jobs: jobs that can start on several numbers of nodes, and keep theirs while they run
// (Feitelson and Rudolph 1996).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/allocate/workload/communication_model.hpp"
#include "rankloom/allocate/workload/workload.hpp"

namespace rankloom {

/// How many nodes a job may have: "16", or "16-64" for any number in between.
struct NodeCounts {
  std::uint64_t min = 0, max = 0;  ///< 0: not given.
  /// The numbers that are tried: the smallest, the largest, and about six between them.
  std::vector<std::uint32_t> tried() const;
};

/// A job on one of its numbers of nodes. The iterations of the job remain the same: their computation is shared by the
/// nodes, their communication is that of the pattern with so many ranks.
struct MoldableShape {
  std::uint32_t nodes = 0;
  WorkloadJob job;              ///< With the number of tasks of this shape.
  double computing = 0;         ///< Seconds of one iteration.
  double communicating = 0;     ///< Of one iteration on consecutive nodes, with ranks in block order.
  double share = 0;             ///< Of communication in the recorded run.
  double recorded_seconds = 0;  ///< Of one iteration of the recorded run.

  /// The run time on consecutive nodes, relative to the recorded run.
  double relative_run() const { return (computing + communicating) / recorded_seconds; }
  /// The predicted run time on these nodes, relative to the recorded run.
  double relative_run(std::span<const Node> nodes_of_job, CommunicationModel& model) const;
};

/// The shapes of a job that may have from 1/factor to `factor` times its nodes, at least two and at most `max_nodes`;
/// in ascending order, with the requested number among them. Empty: the job is rigid, because its communication is not
/// known or because it has one node.
std::vector<MoldableShape> shapes_of(const WorkloadJob& job, std::uint32_t nodes, std::uint32_t max_nodes,
                                     std::uint32_t cores_per_node, double factor, CommunicationModel& model);

}  // namespace rankloom
