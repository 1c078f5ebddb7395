// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the interface of the plugin to slurmctld.
#include "slurm/controller.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include <dlfcn.h>

namespace rankloom::slurm {

namespace {

/// Looks up symbols of the running program.
struct SymbolLookup {
  bool found_all = true;

  template <class T>
  void find(T& target, const char* name) {
    void* const symbol = ::dlsym(RTLD_DEFAULT, name);
    found_all = found_all && symbol != nullptr;
    static_assert(sizeof target == sizeof symbol);
    std::memcpy(&target, &symbol, sizeof symbol);
  }
};

std::string string_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

/// Replaces Slurm's value for "not specified" by 0.
template <class T>
std::uint64_t value_or_zero(T value, T not_specified) {
  return value == not_specified ? 0 : value;
}

}  // namespace

std::optional<Controller> Controller::find() {
  Controller controller;
  SymbolLookup symbols;
  symbols.find(controller.job_list_, "job_list");
  symbols.find(controller.node_record_count_, "node_record_count");
  symbols.find(controller.overlaps_and_runs_, "job_overlap_and_running");
  symbols.find(controller.describe_allocation_, "build_job_info_resp");
  symbols.find(controller.free_allocation_, "slurm_free_resource_allocation_response_msg");
  symbols.find(controller.describe_request_, "copy_job_record_to_job_desc");
  symbols.find(controller.free_request_, "slurm_free_job_desc_msg");
  symbols.find(controller.describe_to_prolog_, "job_common_env_vars");
  symbols.find(controller.free_variables_, "slurm_env_array_free");
  symbols.find(controller.end_time_, "job_end_time");
  symbols.find(controller.list_for_each_, "slurm_list_for_each");
  symbols.find(controller.names_of_bits_, "bitmap2node_name");
  symbols.find(controller.new_bits_, "slurm_bit_alloc");
  symbols.find(controller.free_bits_, "slurm_bit_free");
  symbols.find(controller.set_bit_, "slurm_bit_set");
  symbols.find(controller.clear_bit_, "slurm_bit_clear");
  symbols.find(controller.test_bit_, "slurm_bit_test");
  symbols.find(controller.bit_count_, "slurm_bit_size");
  symbols.find(controller.conf_path_, "slurm_get_extra_conf_path");
  symbols.find(controller.free_, "slurm_xfree");
  symbols.find(controller.info_, "slurm_info");
  symbols.find(controller.error_, "slurm_error");
  if (!symbols.found_all) return std::nullopt;
  return controller;
}

std::string Controller::conf_path(const char* file) const {
  char* path = conf_path_(file);
  std::string text = string_or_empty(path);
  free_(reinterpret_cast<void**>(&path));
  return text;
}

std::vector<std::string> Controller::node_names() const {
  std::vector<std::string> names;
  bitstr_t* single_node = new_bits_(node_count());
  for (int node = 0; node < node_count(); ++node) {
    set_bit_(single_node, node);
    char* name = names_of_bits_(single_node);
    names.push_back(string_or_empty(name));
    free_(reinterpret_cast<void**>(&name));
    clear_bit_(single_node, node);
  }
  free_bits_(&single_node);
  return names;
}

void Controller::for_each_running_job_of(JobList jobs, const VisitJob& visit) const {
  struct Context {
    const Controller& controller;
    const VisitJob& visit;
    bitstr_t* all_nodes;
  };
  Context data{*this, visit, new_bits_(node_count())};
  for (int node = 0; node < node_count(); ++node) set_bit_(data.all_nodes, node);
  const auto visit_job = [](void* job, void* argument) -> int {
    const Context& context = *static_cast<Context*>(argument);
    const Controller& controller = context.controller;
    if (!overlaps_and_runs(controller.overlaps_and_runs_, context.all_nodes, job)) return 0;
    resource_allocation_response_msg_t* const allocation = controller.describe_allocation_(job);
    if (allocation == nullptr) return 0;
    if (allocation->node_list != nullptr) context.visit(*allocation);
    controller.free_allocation_(allocation);
    return 0;
  };
  if (jobs != nullptr) list_for_each_(jobs, visit_job, &data);
  free_bits_(&data.all_nodes);
}

void Controller::for_each_running_job(const std::function<void(const std::string& nodes, double end)>& visit) const {
  for_each_running_job_of(*job_list_, [&](const resource_allocation_response_msg_t& allocation) {
    job_alloc_info_msg_t request{};
    copy_job_id(allocation, request);
    srun_timeout_msg_t response{};
    const bool known = end_time_(&request, &response) == SLURM_SUCCESS;
    visit(allocation.node_list, known ? static_cast<double>(response.timeout) : 0);
  });
}

std::vector<std::string> Controller::nodes_of_running(JobList jobs) const {
  std::vector<std::string> lists;
  for_each_running_job_of(
      jobs, [&](const resource_allocation_response_msg_t& allocation) { lists.emplace_back(allocation.node_list); });
  return lists;
}

JobLabel Controller::label(Job* job) const {
  JobLabel label;
  char** const variables = describe_to_prolog_(job, false);
  for (char** at = variables; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string_view name = variable.substr(0, variable.find('='));
    const std::string_view value = variable.substr(std::min(variable.size(), name.size() + 1));
    if (name == "SLURM_JOB_ID") std::from_chars(value.data(), value.data() + value.size(), label.id);
    if (name == "SLURM_JOB_COMMENT") label.comment = value;
    if (name == "SLURM_JOB_WORK_DIR") label.directory = value;
    if (name == "SLURM_JOB_NAME") label.name = value;
    if (name == "SLURM_JOB_USER") label.user_name = value;
    if (name == "SLURM_JOB_UID") std::from_chars(value.data(), value.data() + value.size(), label.user);
    if (name.ends_with("_SLURM_SPANK_OPTION_rankloom_rankloom")) label.request = value;
  }
  for (char** at = variables; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::size_t position = variable.find("RANKLOOM_FALLBACK=");
    if (position != std::string_view::npos && position < variable.find('='))
      label.comment += " rankloom:fallback=" + std::string(variable.substr(variable.find('=') + 1));
  }
  free_variables_(variables);
  return label;
}

JobDemand Controller::demand(Job* job) const {
  JobDemand demand;
  job_desc_msg_t* const request = describe_request_(job);
  if (request == nullptr) return demand;
  demand.cpus = value_or_zero(request->min_cpus, NO_VAL);
  demand.tasks = value_or_zero(request->num_tasks, NO_VAL);
  demand.tasks_per_node =
      static_cast<std::uint32_t>(value_or_zero(request->ntasks_per_node, static_cast<std::uint16_t>(NO_VAL16)));
  demand.required = string_or_empty(request->req_nodes);
  if (request->environment != nullptr) {  // all strings share one allocation
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
