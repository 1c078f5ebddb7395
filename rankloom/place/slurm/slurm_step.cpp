// SPDX-License-Identifier: Apache-2.0
// place/slurm: parses one srun command and the variables of its job, and rejects options that conflict with a mapping.
#include "rankloom/place/slurm/slurm_step.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"

namespace rankloom {

namespace {

/// Options of srun that determine the placement of ranks. With them Slurm ignores the host list or rejects the step.
constexpr std::array<std::string_view, 9> placement_options{"nodelist",        "nodefile",          "exclude",
                                                            "relative",        "distribution",      "ntasks-per-node",
                                                            "ntasks-per-core", "ntasks-per-socket", "spread-job"};

std::optional<std::uint32_t> parse_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || count == 0) return std::nullopt;
  return count;
}

std::optional<std::uint32_t> option_or_variable(const LaunchCommand& command, std::string_view option,
                                                const std::string& variable) {
  const LaunchOption* const given = command.find(option);
  return parse_count(given != nullptr && !given->values.empty() ? given->values[0] : variable);
}

const LaunchOption* find_placement_option(const LaunchCommand& command) {
  for (const LaunchedProgram& program : command.programs) {
    for (const LaunchOption& option : program.options) {
      if (std::find(placement_options.begin(), placement_options.end(), option.name) != placement_options.end())
        return &option;
    }
  }
  return nullptr;
}

using GpuOptions = std::map<std::string, std::string>;  // values by name

/// The options about GPUs: those of the command, and those of the job that the command does not set.
GpuOptions find_gpu_options(const LaunchCommand& command, const SlurmVariables& variables) {
  GpuOptions options;
  const auto add = [&](const std::string& name, const std::string& value) {
    const bool generic = name == "gres" || name.starts_with("tres-");
    const bool named = name.starts_with("gpu") || name.ends_with("-gpu");
    if (named || (generic && value.find("gpu") != std::string::npos)) options.emplace(name, value);
  };
  for (const LaunchOption& option : command.programs.front().options)
    add(option.name, option.values.empty() ? "" : option.values[0]);
  for (const auto& [name, value] : variables.gpu_options) add(name, value);
  return options;
}

/// "4", "a100:4", "gpu:a100:2,license:1", "gres/gpu:1"; 0: another form, or several types of GPUs.
std::uint32_t parse_gpu_count(std::string_view value) {
  const bool generic = value.find("gpu") != std::string_view::npos;
  std::uint32_t gpus = 0;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(','), value.size());
    const std::string_view item = value.substr(0, end);
    value.remove_prefix(std::min(value.size(), end + 1));
    if (generic && item.find("gpu") == std::string_view::npos) continue;
    const std::string_view number = item == "gpu" ? "1" : item.substr(item.find_last_of(":=") + 1);
    const auto count = parse_count(number);
    if (!count || gpus > 0) return 0;
    gpus = *count;
  }
  return gpus;
}

/// Finds out how many GPUs each rank has. Leaves 0 if Slurm must choose them.
void set_gpus(const GpuOptions& options, SlurmStep& step) {
  for (const char* const name : {"gpu-bind", "tres-bind", "gpus-per-socket", "cpus-per-gpu"}) {
    if (options.contains(name)) return;
  }
  const auto count = [&](std::initializer_list<const char*> names) -> std::optional<std::uint32_t> {
    for (const char* const name : names) {
      if (const auto found = options.find(name); found != options.end()) return parse_gpu_count(found->second);
    }
    return std::nullopt;
  };
  if (!step.ranks) return;
  const std::uint64_t nodes = step.node_count.value_or(static_cast<std::uint32_t>(step.nodes.size()));
  std::uint64_t gpus = 0;  // of all ranks
  if (const auto per_task = count({"gpus-per-task", "tres-per-task"})) {
    gpus = std::uint64_t{*per_task} * *step.ranks;
    step.binds_gpus = true;
  } else if (const auto ranks_per_gpu = count({"ntasks-per-gpu"})) {
    gpus = *ranks_per_gpu == 1 ? *step.ranks : 0;
    step.binds_gpus = true;
  } else if (const auto per_node = count({"gpus-per-node", "gres", "tres-per-node"})) {
    gpus = *per_node * nodes;
  } else {
    gpus = count({"gpus"}).value_or(0);
  }
  if (gpus % *step.ranks == 0 && gpus / *step.ranks <= max_gpus_per_node)
    step.gpus_per_task = static_cast<std::uint32_t>(gpus / *step.ranks);
}

/// Spreads ranks with GPUs evenly, unless the user has set the number of ranks per node: a node may have fewer GPUs
/// than processing units, and with more ranks Slurm would reject the step.
void spread_ranks(SlurmStep& step) {
  if (!step.ranks || step.nodes.empty()) return;
  const auto nodes = static_cast<std::uint32_t>(step.nodes.size());
  const std::uint32_t even = *step.ranks / nodes + (*step.ranks % nodes != 0 ? 1 : 0);
  std::uint64_t total = 0;
  for (const JobNode& node : step.nodes) total += std::min(node.tasks, even);
  if (total < *step.ranks) return;
  for (JobNode& node : step.nodes) node.tasks = std::min(node.tasks, even);
}

Result<std::vector<JobNode>> parse_job_nodes(const SlurmVariables& variables, const SlurmStep& step) {
  if (variables.nodes.empty()) return std::vector<JobNode>{};
  auto names = expand_hostlist(variables.nodes);
  if (!names) {
    names.error().where = at("SLURM_JOB_NODELIST");
    return propagate(names);
  }
  std::vector<JobNode> nodes;
  for (std::string& name : *names) nodes.push_back({.name = std::move(name)});
  if (!variables.cpus_per_node.empty()) {
    auto cpus = expand_counts(variables.cpus_per_node, nodes.size());
    if (!cpus) return propagate(cpus);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].cpus = (*cpus)[i];
  }
  for (JobNode& node : nodes) node.tasks = std::max(1U, node.cpus / step.cpus_per_task);
  if (variables.tasks_per_node.empty()) return nodes;
  // The user chose the number of ranks per node for the job. It applies if the step has as many ranks as the job.
  auto tasks = expand_counts(variables.tasks_per_node, nodes.size());
  if (!tasks) return nodes;
  const auto total = std::accumulate(tasks->begin(), tasks->end(), std::uint64_t{0});
  if (!step.ranks || total != *step.ranks) return nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].tasks = (*tasks)[i];
  return nodes;
}

}  // namespace

bool has_placement_options(const LaunchCommand& command) {
  return find_placement_option(command) != nullptr;
}

Result<SlurmStep> parse_step(const LaunchCommand& command, const SlurmVariables& variables) {
  if (command.programs.size() != 1 || !variables.het_size.empty()) {
    return fail(Code::usage, at("srun"), "a heterogeneous job cannot be mapped",
                "start its components by separate srun commands");
  }
  if (const LaunchOption* const placement_option = find_placement_option(command); placement_option != nullptr) {
    return fail(Code::usage, at(placement_option->arguments[0]), "this option conflicts with the mapping",
                "leave it out; the mapping determines the node of each rank");
  }
  SlurmStep step;
  step.sets_task_count = command.find("n") != nullptr;
  step.ranks = option_or_variable(command, "n", variables.tasks);
  step.cpus_per_task = option_or_variable(command, "cpus-per-task", variables.cpus_per_task).value_or(1);
  step.node_count = option_or_variable(command, "nodes", {});
  step.overcommit = command.find("overcommit") != nullptr;
  const LaunchOption* const bind = command.find("cpu-bind");
  const bool bound_by_user = bind != nullptr && !bind->values.empty() && !bind->values[0].ends_with("none");
  auto nodes = parse_job_nodes(variables, step);
  if (!nodes) return propagate(nodes);
  step.nodes = std::move(*nodes);
  const GpuOptions gpu_options = find_gpu_options(command, variables);
  set_gpus(gpu_options, step);
  if (!gpu_options.empty()) spread_ranks(step);
  step.may_bind = !bound_by_user && (gpu_options.empty() || step.gpus_per_task > 0);
  return step;
}

std::string write_placement(const StepPlacement& placement) {
  std::string text = fmt::format("ranks {}", placement.bindings.size());
  if (placement.gpus_per_task > 0) text += fmt::format(" gpus-per-task {}", placement.gpus_per_task);
  text += "\n";
  for (std::size_t rank = 0; rank < placement.bindings.size(); ++rank) {
    const StepBinding& binding = placement.bindings[rank];
    text += fmt::format("{} {} ", rank, binding.host);
    switch (binding.unit) {
      case StepBinding::Unit::none:
        text += "-";
        break;
      case StepBinding::Unit::os_index:
        text += format_number_ranges(binding.cpus);
        break;
      case StepBinding::Unit::position:
        text += "+" + format_number_ranges(binding.cpus);
        break;
    }
    text += binding.gpus.empty() ? "\n" : fmt::format(" gpus={}\n", format_number_ranges(binding.gpus));
  }
  return text;
}

}  // namespace rankloom
