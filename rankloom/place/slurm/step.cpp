// SPDX-License-Identifier: Apache-2.0
// place: one srun understood: its words, its job's nodes, and what stands in the way of an order of ours.
#include "rankloom/place/slurm/step.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/discover/host_names.hpp"
#include "rankloom/discover/slurm.hpp"

namespace rankloom {

namespace {

/// Options of srun that say where ranks go. Slurm would follow them and forget our list, or refuse the step.
constexpr std::array<std::string_view, 9> rivals{"nodelist",        "nodefile",          "exclude",
                                                 "relative",        "distribution",      "ntasks-per-node",
                                                 "ntasks-per-core", "ntasks-per-socket", "spread-job"};

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> number_of(const LaunchCommand& command, std::string_view option,
                                       const std::string& variable) {
  const LaunchOption* const given = command.find(option);
  return number_in(given != nullptr && !given->values.empty() ? given->values[0] : variable);
}

const LaunchOption* rival_in(const LaunchCommand& command) {
  for (const LaunchPart& part : command.parts) {
    for (const LaunchOption& option : part.options) {
      if (std::find(rivals.begin(), rivals.end(), option.name) != rivals.end()) return &option;
    }
  }
  return nullptr;
}

Result<std::vector<JobNode>> nodes_of_job(const SlurmVariables& variables, const SlurmStep& step) {
  if (variables.nodes.empty()) return std::vector<JobNode>{};
  auto names = expand_hosts(variables.nodes);
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
  // How many ranks a node gets is the user's choice, made for the whole job: kept, if this step is the whole job.
  auto tasks = expand_counts(variables.tasks_per_node, nodes.size());
  if (!tasks) return nodes;
  const auto all = std::accumulate(tasks->begin(), tasks->end(), std::uint64_t{0});
  if (!step.ranks || all != *step.ranks) return nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].tasks = (*tasks)[i];
  return nodes;
}

}  // namespace

bool orders_itself(const LaunchCommand& command) {
  return rival_in(command) != nullptr;
}

Result<SlurmStep> understand_step(const LaunchCommand& command, const SlurmVariables& variables) {
  if (command.parts.size() != 1 || !variables.jobs_together.empty()) {
    return fail(Code::usage, at("srun"), "the job has several parts, which cannot be mapped together",
                "start the parts by commands of their own");
  }
  if (const LaunchOption* const rival = rival_in(command); rival != nullptr) {
    return fail(Code::usage, at(command.words[rival->at]), "this option asks for an order of its own",
                "leave it out: the mapping says on which node each rank runs");
  }
  SlurmStep step;
  step.counts_itself = command.find("n") != nullptr;
  step.ranks = number_of(command, "n", variables.tasks);
  step.cpus_per_task = number_of(command, "cpus-per-task", variables.cpus_per_task).value_or(1);
  step.node_count = number_of(command, "nodes", {});
  step.overcommit = command.find("overcommit") != nullptr;
  const LaunchOption* const bind = command.find("cpu-bind");
  const bool bound_by_user = bind != nullptr && !bind->values.empty() && !bind->values[0].ends_with("none");
  step.binds = step.cpus_per_task == 1 && !bound_by_user;
  auto nodes = nodes_of_job(variables, step);
  if (!nodes) return propagate(nodes);
  step.nodes = std::move(*nodes);
  return step;
}

std::string write_placement(const StepPlacement& placement) {
  std::string text = fmt::format("ranks {}\n", placement.seats.size());
  for (std::size_t rank = 0; rank < placement.seats.size(); ++rank) {
    const StepSeat& seat = placement.seats[rank];
    text += fmt::format("{} {} ", rank, seat.host);
    switch (seat.by) {
      case StepSeat::By::nobody:
        text += "-\n";
        break;
      case StepSeat::By::number:
        text += fmt::format("{}\n", seat.cpu);
        break;
      case StepSeat::By::position:
        text += fmt::format("+{}\n", seat.cpu);
        break;
    }
  }
  return text;
}

}  // namespace rankloom
