// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: what the plugin asks of slurmctld.
#include "slurm/controller.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include <dlfcn.h>

namespace rankloom::slurm {

namespace {

/// Looks a symbol up among those of the running program; notes when it is missing.
struct Symbols {
  bool all = true;

  template <class T>
  void find(T& target, const char* name) {
    void* const found = ::dlsym(RTLD_DEFAULT, name);
    all = all && found != nullptr;
    static_assert(sizeof target == sizeof found);
    std::memcpy(&target, &found, sizeof found);
  }
};

std::string text_of(const char* text) {
  return text != nullptr ? text : "";
}

/// 0 for what Slurm writes when nothing is said.
template <class T>
std::uint64_t said(T value, T unsaid) {
  return value == unsaid ? 0 : value;
}

}  // namespace

std::optional<Controller> Controller::find() {
  Controller found;
  Symbols symbols;
  symbols.find(found.job_list_, "job_list");
  symbols.find(found.node_record_count_, "node_record_count");
  symbols.find(found.overlaps_and_runs_, "job_overlap_and_running");
  symbols.find(found.describe_allocation_, "build_job_info_resp");
  symbols.find(found.free_allocation_, "slurm_free_resource_allocation_response_msg");
  symbols.find(found.describe_request_, "copy_job_record_to_job_desc");
  symbols.find(found.free_request_, "slurm_free_job_desc_msg");
  symbols.find(found.describe_to_prolog_, "job_common_env_vars");
  symbols.find(found.free_variables_, "slurm_env_array_free");
  symbols.find(found.end_time_, "job_end_time");
  symbols.find(found.list_for_each_, "slurm_list_for_each");
  symbols.find(found.names_of_bits_, "bitmap2node_name");
  symbols.find(found.new_bits_, "slurm_bit_alloc");
  symbols.find(found.free_bits_, "slurm_bit_free");
  symbols.find(found.set_bit_, "slurm_bit_set");
  symbols.find(found.clear_bit_, "slurm_bit_clear");
  symbols.find(found.test_bit_, "slurm_bit_test");
  symbols.find(found.bit_count_, "slurm_bit_size");
  symbols.find(found.conf_path_, "slurm_get_extra_conf_path");
  symbols.find(found.free_, "slurm_xfree");
  symbols.find(found.info_, "slurm_info");
  symbols.find(found.error_, "slurm_error");
  if (!symbols.all) return std::nullopt;
  return found;
}

std::string Controller::conf_path(const char* file) const {
  char* path = conf_path_(file);
  std::string text = text_of(path);
  free_(reinterpret_cast<void**>(&path));
  return text;
}

std::vector<std::string> Controller::node_names() const {
  std::vector<std::string> names;
  bitstr_t* one = new_bits_(node_count());
  for (int node = 0; node < node_count(); ++node) {
    set_bit_(one, node);
    char* name = names_of_bits_(one);
    names.push_back(text_of(name));
    free_(reinterpret_cast<void**>(&name));
    clear_bit_(one, node);
  }
  free_bits_(&one);
  return names;
}

void Controller::each_running(const std::function<void(const std::string& nodes, double end)>& visit) const {
  struct Walk {
    const Controller& controller;
    const std::function<void(const std::string&, double)>& visit;
    bitstr_t* everywhere;
  };
  Walk walk{*this, visit, new_bits_(node_count())};
  for (int node = 0; node < node_count(); ++node) set_bit_(walk.everywhere, node);
  const auto one = [](void* job, void* context) -> int {
    const Walk& to = *static_cast<Walk*>(context);
    if (!to.controller.overlaps_and_runs_(to.everywhere, job)) return 0;
    resource_allocation_response_msg_t* const allocation = to.controller.describe_allocation_(job);
    if (allocation == nullptr) return 0;
    job_alloc_info_msg_t question{};
    question.job_id = allocation->job_id;
    srun_timeout_msg_t answer{};
    const bool known = to.controller.end_time_(&question, &answer) == SLURM_SUCCESS;
    const std::string nodes = text_of(allocation->node_list);
    to.controller.free_allocation_(allocation);
    if (!nodes.empty()) to.visit(nodes, known ? static_cast<double>(answer.timeout) : 0);
    return 0;
  };
  if (*job_list_ != nullptr) list_for_each_(*job_list_, one, &walk);
  free_bits_(&walk.everywhere);
}

JobLabel Controller::label_of(Job* job) const {
  JobLabel label;
  char** const variables = describe_to_prolog_(job, false);
  for (char** at = variables; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string_view name = variable.substr(0, variable.find('='));
    const std::string_view value = variable.substr(std::min(variable.size(), name.size() + 1));
    if (name == "SLURM_JOB_ID") std::from_chars(value.data(), value.data() + value.size(), label.id);
    if (name == "SLURM_JOB_COMMENT") label.comment = value;
  }
  for (char** at = variables; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::size_t found = variable.find("RANKLOOM_FALLBACK=");
    if (found != std::string_view::npos && found < variable.find('='))
      label.comment += " rankloom:fallback=" + std::string(variable.substr(variable.find('=') + 1));
  }
  free_variables_(variables);
  return label;
}

JobDemand Controller::demand_of(Job* job) const {
  JobDemand demand;
  job_desc_msg_t* const request = describe_request_(job);
  if (request == nullptr) return demand;
  demand.cpus = said(request->min_cpus, NO_VAL);
  demand.tasks = said(request->num_tasks, NO_VAL);
  demand.tasks_per_node =
      static_cast<std::uint32_t>(said(request->ntasks_per_node, static_cast<std::uint16_t>(NO_VAL16)));
  demand.required = text_of(request->req_nodes);
  if (request->environment != nullptr) {  // all of its strings are one piece
    free_(reinterpret_cast<void**>(&request->environment[0]));
    free_(reinterpret_cast<void**>(&request->environment));
    request->env_size = 0;
  }
  free_request_(request);
  return demand;
}

std::vector<bool> Controller::read(const bitstr_t* bits) const {
  std::vector<bool> values(static_cast<std::size_t>(bit_count_(bits)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = test_bit_(bits, static_cast<bitoff_t>(i)) != 0;
  return values;
}

void Controller::write(bitstr_t* bits, const std::vector<bool>& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) {
      set_bit_(bits, static_cast<bitoff_t>(i));
    } else {
      clear_bit_(bits, static_cast<bitoff_t>(i));
    }
  }
}

}  // namespace rankloom::slurm
