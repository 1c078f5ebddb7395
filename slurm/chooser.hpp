// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: between Slurm and rankloom's allocator: bitmaps of Slurm's nodes in, bitmaps out. What is chosen is the
// library's business (rankloom/allocate/scheduler/scheduler_view.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/allocate/scheduler/scheduler_view.hpp"
#include "slurm/controller.hpp"

namespace rankloom::slurm {

using NodeBits = std::vector<bool>;  ///< By Slurm's number of a node.

/// How many nodes a job may have.
struct NodeCounts {
  std::uint32_t least, most, wanted;
};

class Chooser {
 public:
  /// Fails on a configuration that is missing, wrong, or speaks of nodes that Slurm does not know.
  static Result<Chooser> make(const Controller& controller);

  /// Jobs have started, ended or changed: look at them anew before the next question.
  void jobs_changed() { view_.reset(); }

  /// Whether the plugin has a say: some of the nodes are of the machine, and all that the job is known to insist on.
  bool concerns(Job* job, const NodeBits& usable);

  /// Offers node sets to `take`, which says whether Slurm takes them, until it does: the policy's choice for the wanted
  /// number of nodes, then for other numbers that the job allows. False: it has to wait.
  using Take = std::function<bool(const NodeBits&)>;
  /// While Slurm plans ahead, the plans of other jobs count, too.
  enum class Ask : std::uint8_t { start, plan };
  bool offer_now(Job* job, const NodeBits& usable, NodeCounts counts, Ask ask, const Take& take);
  /// The same with what is free when running jobs have ended. What is taken is kept in mind as this job's plan while
  /// others ask.
  bool offer_later(Job* job, const NodeBits& usable, NodeCounts counts, const Take& take);
  /// Whether the empty machine has a place for it.
  bool can_ever_run(Job* job, const NodeBits& usable, NodeCounts counts);

  std::string summary() const;

 private:
  Chooser(const Controller& controller, SchedulerSettings settings, NamedMachine machine)
      : controller_(&controller), settings_(std::move(settings)), machine_(std::move(machine)) {}

  using Clock = std::chrono::steady_clock;
  struct Known {
    JobLabel label;
    std::optional<JobDemand> demand;  // empty: not asked for yet
    Clock::time_point since;
  };
  struct Planned {
    Allocation allocation;
    Clock::time_point since;
  };

  Known& know(Job* job);
  /// Nodes that it insists on; nothing when one of them is not of the machine.
  std::optional<std::vector<Node>> required_by(const Known& known) const;
  NodeRequest request_of(const Known& known, const NodeBits& usable) const;
  /// Tries all sizes; when Slurm refuses what is found, once more with what the job insists on.
  using Find = std::function<std::optional<Allocation>(const SchedulerView&, const NodeRequest&)>;
  std::optional<Allocation> offer(Job* job, const NodeBits& usable, NodeCounts counts, Ask ask, const Find& find,
                                 const Take& take);
  const SchedulerView& view();
  SchedulerView view_beside_plans(const NodeRequest& request, std::uint32_t job);
  std::vector<std::uint32_t> sizes(const Known& known, NodeCounts counts) const;
  NodeBits bits_of(const std::vector<Node>& nodes) const;

  const Controller* controller_;
  SchedulerSettings settings_;
  NamedMachine machine_;
  const PolicyInfo* policy_ = nullptr;
  std::unordered_map<std::string, Node> node_by_name_;
  std::vector<std::uint32_t> slurm_number_;  // by node
  std::vector<std::optional<Node>> node_;    // by Slurm's number; none: not of the machine
  std::optional<SchedulerView> view_;        // empty: jobs have changed
  std::map<Job*, Known> known_;
  std::map<std::uint32_t, Planned> plans_;  // by job id
};

}  // namespace rankloom::slurm
