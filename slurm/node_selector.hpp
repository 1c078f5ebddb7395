// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: selects nodes for jobs: translates Slurm's node bitmaps for the allocator of the library
// (rankloom/allocate/scheduler/scheduler_view.hpp), which makes the choice, and back.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/allocate/scheduler/scheduler_view.hpp"
#include "rankloom/place/joint/job_fit.hpp"
#include "slurm/controller.hpp"
#include "slurm/job_profiles.hpp"

namespace rankloom::slurm {

using NodeBitmap = std::vector<bool>;  ///< By Slurm's node index.

/// The number of nodes of a job.
struct NodeCounts {
  std::uint32_t min, max, requested;
};

class NodeSelector {
 public:
  /// Fails if the configuration is missing, invalid, or names nodes that Slurm does not have.
  static Result<NodeSelector> make(const Controller& controller);

  /// Discards the list of running jobs after jobs have started, ended or changed.
  void jobs_changed() {
    view_.reset();
    decisions_.clear();
  }

  /// Whether the plugin selects the nodes of this job: some usable nodes and all required nodes belong to the machine.
  /// If `may_wait`, slurmctld waits a moment until the profile of the job is read.
  bool applies_to(Job* job, const NodeBitmap& usable, bool may_wait);

  /// Passes node sets to `accept`, which returns whether Slurm accepts them, until it does: first the choice of the
  /// policy for the requested number of nodes, then for other numbers that the job allows. False: the job has to wait.
  using AcceptNodes = std::function<bool(const NodeBitmap&)>;
  /// If Slurm plans ahead, the plans for other jobs are taken into account.
  enum class Purpose : std::uint8_t { start, plan };
  bool try_now(Job* job, const NodeBitmap& usable, NodeCounts counts, Purpose purpose, const AcceptNodes& accept);
  /// The same for nodes that become free when Slurm preempts some of these jobs, the first ones preferably.
  bool try_preempting(Job* job, const NodeBitmap& usable, NodeCounts counts, Purpose purpose, JobList preemptable,
                      const AcceptNodes& accept);
  /// The same for nodes that become free when running jobs end. The accepted nodes are stored as the plan of this job.
  bool try_later(Job* job, const NodeBitmap& usable, NodeCounts counts, const AcceptNodes& accept);
  /// Whether the job fits onto the empty machine.
  bool fits_empty_machine(Job* job, const NodeBitmap& usable, NodeCounts counts);

  std::string summary() const;

 private:
  NodeSelector(const Controller& controller, SchedulerSettings settings, NamedMachine machine)
      : controller_(&controller), settings_(std::move(settings)), machine_(std::move(machine)) {}

  using Clock = std::chrono::steady_clock;
  /// The traffic of a job, for the policy closed-fit.
  struct JobScore {
    JobProfiles::Loaded profile;
    JobFit fit;
    std::uint32_t min_nodes;  // with slots for all ranks
  };
  struct JobInfo {
    JobLabel label;
    std::optional<JobDemand> demand;  // empty: not read yet
    Clock::time_point since;
    std::optional<ProfileSource> profile = {};  // not read yet, or empty
    std::unique_ptr<JobScore> score = nullptr;
    std::string note = {};  // why the traffic is not known
  };
  struct Planned {
    Allocation allocation;
    Clock::time_point since;
  };

  /// If `may_wait`, the profile of the job is waited for; otherwise reading it begins.
  JobInfo& job_info(Job* job, bool may_wait);
  void find_score(JobInfo& info, bool may_wait);
  /// The profile that the user names in a comment or in the request of --rankloom.
  std::optional<ProfileSource> profile_source(const JobLabel& label) const;
  /// Or why the profile is not used.
  Result<std::unique_ptr<JobScore>> make_score(const std::string& name, const JobProfiles::Loaded& loaded);
  /// The nodes that the job requires; nothing if one of them is not a node of the machine.
  std::optional<std::vector<Node>> required_nodes(const JobInfo& info) const;
  NodeRequest make_request(const JobInfo& info, const NodeBitmap& usable) const;
  void set_nodes(NodeRequest& request, JobInfo& info, std::uint32_t nodes) const;
  /// Logs once why the traffic of the job is not used.
  void note(JobInfo& info, const std::string& reason) const;
  /// Tries all sizes. If Slurm rejects the nodes, reads the requirements of the job and tries again.
  using Find = std::function<std::optional<Allocation>(const SchedulerView&, const NodeRequest&)>;
  std::optional<Allocation> try_sizes(Job* job, const NodeBitmap& usable, NodeCounts counts, Purpose purpose, char kind,
                                      const Find& find, const AcceptNodes& accept);
  /// Slurm tests a job several times. Until jobs or plans change, equal requests get equal nodes. `kind` is that of
  /// `find`; 0: its results must not be kept.
  std::optional<Allocation> find_once(const SchedulerView& view, const NodeRequest& request, const JobInfo& info,
                                      char kind, const Find& find);
  const SchedulerView& view();
  /// The nodes of the machine in a host list, in ascending order.
  std::vector<Node> nodes_of(const std::string& hosts) const;
  Allocation allocation_of(const std::string& hosts) const;
  /// The view with the plans for other jobs that do not use the nodes of this request; nothing: there are none.
  std::optional<SchedulerView> view_with_plans(const NodeRequest& request, std::uint32_t job);
  std::vector<std::uint32_t> sizes(const JobInfo& info, NodeCounts counts) const;
  NodeBitmap to_bits(const std::vector<Node>& nodes) const;

  const Controller* controller_;
  SchedulerSettings settings_;
  NamedMachine machine_;
  const PolicyInfo* policy_ = nullptr;
  std::unordered_map<std::string, Node> node_by_name_;
  std::vector<std::uint32_t> slurm_index_;               // by node
  std::vector<std::optional<Node>> node_;                // by Slurm's node index; none: not a node of the machine
  std::optional<SchedulerView> view_;                    // empty: must be rebuilt
  std::unordered_map<std::string, Allocation> running_;  // by host list, of running jobs
  std::unordered_map<std::string, std::optional<Allocation>> decisions_;  // of find_once()
  std::map<Job*, JobInfo> job_infos_;                                     // of jobs that wait
  std::size_t next_cleanup_ = 0;            // entries with which those that are too old are removed
  std::map<std::uint32_t, Planned> plans_;  // by job id
  JobProfiles profiles_;
  std::unordered_map<std::uint64_t, double> references_;  // default_seconds() by the id of the profile
  std::unique_ptr<TrafficMapper> mapper_;                 // made for the first job with a profile
};

}  // namespace rankloom::slurm
