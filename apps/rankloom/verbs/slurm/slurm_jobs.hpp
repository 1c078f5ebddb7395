// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: the machine and the jobs of a Slurm installation, with or without rankloom's plugin.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/allocate/scheduler/job_monitor.hpp"
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// The directory of slurm.conf.
std::filesystem::path slurm_directory();

/// The machine of a Slurm installation, and how its nodes should be chosen.
class SlurmMachine {
 public:
  SlurmMachine(NamedMachine machine, const PolicyInfo& policy, const AllocationOptions& options);

  const Allocator& allocator() const { return machine_.allocator; }
  const std::vector<std::string>& names() const { return machine_.names; }
  const PolicyInfo& policy() const { return *policy_; }
  const AllocationOptions& options() const { return options_; }

  /// The nodes of a hostlist in ascending order, without those that are not part of the machine.
  std::vector<Node> nodes_of(std::string_view hostlist) const;
  std::vector<std::string> names_of(const std::vector<Node>& nodes) const;
  /// "n1, n2, n3 and 13 more"
  std::string list_of(const std::vector<Node>& nodes, std::size_t max_names = 16) const;

 private:
  NamedMachine machine_;
  std::unordered_map<std::string, Node> node_by_name_;
  const PolicyInfo* policy_;
  AllocationOptions options_;
};

/// The options of commands that read the machine of a Slurm installation.
class SlurmMachineArguments {
 public:
  void describe(CLI::App& app);
  void describe_policy(CLI::App& app);
  /// The machine of -t, of rankloom.conf, or of Slurm's own topology.conf or topology.yaml.
  Result<SlurmMachine> load() const;

 private:
  Result<SchedulerSettings> settings(std::string& path) const;

  std::string conf_, topology_, nodes_;
  PolicyArguments policy_;
};

/// A job that runs or is suspended. Times are in seconds since 1970.
struct SlurmJob : RunningJob {
  std::optional<double> end = {};  ///< By its time limit.
  std::optional<double> start = {}, submit = {};
};

/// The jobs on nodes of the machine, those that started first at the beginning.
Result<std::vector<SlurmJob>> running_slurm_jobs(const SlurmMachine& machine);

/// "the link from n4 to n5 is used by jobs 7, 9": the resource that most jobs share.
std::string busiest_resource(const SlurmMachine& machine, const JobSnapshot& snapshot);

/// The lines that a command of Slurm prints. Times are in seconds since 1970.
Result<std::vector<std::string>> slurm_lines(const std::vector<std::string>& command);
/// The parts of a line between "|".
std::vector<std::string> split_fields(std::string_view line);

}  // namespace rankloom::app
