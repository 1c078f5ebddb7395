// SPDX-License-Identifier: Apache-2.0
// place/slurm: parses one srun command and the variables of its job, and rejects options that conflict with a mapping.
#include "rankloom/place/slurm/slurm_step.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

/// Slurm gives each rank GPUs together with cores near them.
bool requests_gpus(const LaunchCommand& command) {
  const auto& options = command.programs.front().options;
  return std::any_of(options.begin(), options.end(), [](const LaunchOption& option) {
    if (option.name.starts_with("gpu") || option.name.ends_with("-gpu")) return true;
    const bool generic = option.name == "gres" || option.name.starts_with("tres-");
    return generic && !option.values.empty() && option.values[0].find("gpu") != std::string::npos;
  });
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
  step.may_bind = !bound_by_user && !requests_gpus(command);
  auto nodes = parse_job_nodes(variables, step);
  if (!nodes) return propagate(nodes);
  step.nodes = std::move(*nodes);
  return step;
}

std::string write_placement(const StepPlacement& placement) {
  std::string text = fmt::format("ranks {}\n", placement.bindings.size());
  for (std::size_t rank = 0; rank < placement.bindings.size(); ++rank) {
    const StepBinding& binding = placement.bindings[rank];
    text += fmt::format("{} {} ", rank, binding.host);
    switch (binding.unit) {
      case StepBinding::Unit::none:
        text += "-\n";
        break;
      case StepBinding::Unit::os_index:
        text += fmt::format("{}\n", format_number_ranges(binding.cpus));
        break;
      case StepBinding::Unit::position:
        text += fmt::format("+{}\n", format_number_ranges(binding.cpus));
        break;
    }
  }
  return text;
}

}  // namespace rankloom
