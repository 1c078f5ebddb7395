// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: what the plugin asks of slurmctld: functions that it exports, and the structures of Slurm's public headers.
// No record of slurmctld is looked into: a job is a pointer that is handed back to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <slurm/slurm.h>

namespace rankloom::slurm {

using Job = void;

/// A waiting job, as far as it matters here.
struct JobLabel {
  std::uint32_t id = 0;
  std::string comment;  ///< With what SPANK plugins set for the job.
};

/// What Slurm's own plugin insists on beyond a number of nodes.
struct JobDemand {
  std::uint64_t cpus = 0;            ///< In all; 0: not said.
  std::uint64_t tasks = 0;           ///< 0: not said.
  std::uint32_t tasks_per_node = 0;  ///< 0: not said.
  std::string required;              ///< Names of nodes, as Slurm writes them.
};

/// The slurmctld that this process is.
class Controller {
 public:
  /// None: this process is another program of Slurm, or a slurmctld that lacks a function that is needed.
  static std::optional<Controller> find();

  /// A file beside slurm.conf.
  std::string conf_path(const char* file) const;
  /// By Slurm's number of a node.
  std::vector<std::string> node_names() const;

  /// Calls visit for every job that runs or is suspended, with its names of nodes and when it ends at the latest.
  void each_running(const std::function<void(const std::string& nodes, double end)>& visit) const;
  JobLabel label_of(Job* job) const;
  /// Reads the job's files; for jobs that have none, slurmctld logs that. Only where it is needed.
  JobDemand demand_of(Job* job) const;

  std::vector<bool> read(const bitstr_t* bits) const;
  void write(bitstr_t* bits, const std::vector<bool>& values) const;

  void info(const std::string& text) const { info_("rankloom: %s", text.c_str()); }
  void error(const std::string& text) const { error_("rankloom: %s", text.c_str()); }

 private:
  Controller() = default;
  int node_count() const { return *node_record_count_; }

  List* job_list_ = nullptr;
  int* node_record_count_ = nullptr;
  bool (*overlaps_and_runs_)(bitstr_t*, Job*) = nullptr;
  resource_allocation_response_msg_t* (*describe_allocation_)(Job*) = nullptr;
  void (*free_allocation_)(resource_allocation_response_msg_t*) = nullptr;
  job_desc_msg_t* (*describe_request_)(Job*) = nullptr;
  void (*free_request_)(job_desc_msg_t*) = nullptr;
  char** (*describe_to_prolog_)(Job*, bool) = nullptr;
  void (*free_variables_)(char**) = nullptr;
  int (*end_time_)(job_alloc_info_msg_t*, srun_timeout_msg_t*) = nullptr;
  int (*list_for_each_)(List, int (*)(void*, void*), void*) = nullptr;
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
