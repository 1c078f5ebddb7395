// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the interface of the plugin to slurmctld: functions that slurmctld exports, and structures of Slurm's public
// headers. The plugin does not access internal structures of slurmctld; a job is an opaque pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "slurm/compatibility.hpp"

namespace rankloom::slurm {

/// The properties of a pending job that the plugin uses.
struct JobLabel {
  std::uint32_t id = 0;
  std::string comment;  ///< Followed by the fallback that a SPANK plugin set for the job.
  std::string request;  ///< Of `sbatch --rankloom=`; empty: none.
  std::string directory;
  std::string name;
  std::string user_name;
  ::uid_t user = 0;
};

/// Requirements of a job beyond the number of nodes, which Slurm's own plugin enforces.
struct JobDemand {
  std::uint64_t cpus = 0;            ///< In total; 0: not specified.
  std::uint64_t tasks = 0;           ///< 0: not specified.
  std::uint32_t tasks_per_node = 0;  ///< 0: not specified.
  std::string required;              ///< A host list.
};

/// The slurmctld process that loaded the plugin.
class Controller {
 public:
  /// Nothing if this process is another program of Slurm, or a slurmctld that lacks a required function.
  static std::optional<Controller> find();

  /// The path of a file in the directory of slurm.conf.
  std::string conf_path(const char* file) const;
  /// By Slurm's node index.
  std::vector<std::string> node_names() const;

  /// Calls `visit` for every running or suspended job with its host list and its latest end time.
  void for_each_running_job(const std::function<void(const std::string& nodes, double end)>& visit) const;
  /// The host lists of those jobs of the list that run.
  std::vector<std::string> nodes_of_running(JobList jobs) const;
  JobLabel label(Job* job) const;
  /// Reads the files of the job. slurmctld logs an error for jobs without files, so this is called only when necessary.
  JobDemand demand(Job* job) const;

  std::vector<bool> read(const bitstr_t* bits) const;
  void write(bitstr_t* bits, const std::vector<bool>& values) const;

  void info(const std::string& text) const { info_("rankloom: %s", text.c_str()); }
  void error(const std::string& text) const { error_("rankloom: %s", text.c_str()); }

 private:
  Controller() = default;
  int node_count() const { return *node_record_count_; }
  /// Calls `visit` for those jobs of the list that run.
  using VisitJob = std::function<void(const resource_allocation_response_msg_t&)>;
  void for_each_running_job_of(JobList jobs, const VisitJob& visit) const;

  JobList* job_list_ = nullptr;
  int* node_record_count_ = nullptr;
  OverlapsAndRuns* overlaps_and_runs_ = nullptr;
  resource_allocation_response_msg_t* (*describe_allocation_)(Job*) = nullptr;
  void (*free_allocation_)(resource_allocation_response_msg_t*) = nullptr;
  job_desc_msg_t* (*describe_request_)(Job*) = nullptr;
  void (*free_request_)(job_desc_msg_t*) = nullptr;
  char** (*describe_to_prolog_)(Job*, bool) = nullptr;
  void (*free_variables_)(char**) = nullptr;
  int (*end_time_)(job_alloc_info_msg_t*, srun_timeout_msg_t*) = nullptr;
  int (*list_for_each_)(JobList, int (*)(void*, void*), void*) = nullptr;
  char* (*names_of_bits_)(const bitstr_t*) = nullptr;
  bitstr_t* (*new_bits_)(bitoff_t) = nullptr;
  void (*free_bits_)(bitstr_t**) = nullptr;
  void (*set_bit_)(bitstr_t*, bitoff_t) = nullptr;
  void (*clear_bit_)(bitstr_t*, bitoff_t) = nullptr;
  int (*test_bit_)(const bitstr_t*, bitoff_t) = nullptr;
  bitoff_t (*bit_count_)(const bitstr_t*) = nullptr;
  char* (*conf_path_)(const char*) = nullptr;
  void (*free_)(void**) = nullptr;
  void (*info_)(const char*, ...) = nullptr;
  void (*error_)(const char*, ...) = nullptr;
};

}  // namespace rankloom::slurm
