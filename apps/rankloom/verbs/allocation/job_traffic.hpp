// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: the traffic of the job of `rankloom alloc request`, its nodes by the policy closed-fit, and
// the mapping of its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/allocate/closed_fit.hpp"
#include "rankloom/allocate/workload/moldable_jobs.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::app {

/// --prefer and --decision-time.
void describe_fit(CLI::App& app, FitOptions& fit);

SetValue set_node_counts(NodeCounts& counts);

/// The nodes of a job that were chosen with its traffic.
struct JobChoice {
  FitDecision decision;
  CommGraph graph;
  std::string why;
};

/// A job with its ranks on cores of the machine.
struct MappedJob {
  std::vector<Core> core_of;
  double seconds = 0, block_seconds = 0;  ///< Predicted communication, and that of the launcher's default placement.
};

class JobTrafficArguments {
 public:
  void describe(CLI::App& app);
  bool given() const { return !profile_.profile.empty() || !pattern_.empty(); }
  const FitOptions& fit() const { return fit_; }
  const std::string& output() const { return output_; }

  /// The number of nodes that the ranks of the profile need, if neither nodes nor tasks are given.
  Result<std::uint64_t> tasks() const;
  /// Nothing if the job has to wait. `tasks`: 0: one rank per core. With several numbers of nodes, the one with the
  /// shortest predicted run time.
  Result<std::optional<JobChoice>> choose(const Allocator& allocator, const Occupancy& occupancy,
                                          const PolicyInfo& policy, const std::vector<std::uint32_t>& nodes,
                                          std::uint64_t tasks, AllocationOptions options) const;
  Result<MappedJob> map(const Topology& topology, const CommGraph& graph, std::span<const Node> nodes) const;

 private:
  struct Traffic {
    CommGraph graph;
    double communication;  // share of the run time
  };
  Result<Traffic> load(std::uint64_t ranks) const;

  ProfileArguments profile_;
  std::string pattern_, output_;
  std::optional<double> communication_;
  FitOptions fit_{.max_seconds = 0.05};
};

}  // namespace rankloom::app
