// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm place`: computes the placement of an srun step for the plugin of `srun --rankloom`.
#include <cstdlib>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/place/slurm/slurm_step.hpp"

namespace rankloom::app {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

SlurmVariables variables() {
  SlurmVariables all{.nodes = variable("SLURM_JOB_NODELIST"),
                     .cpus_per_node = variable("SLURM_JOB_CPUS_PER_NODE"),
                     .tasks_per_node = variable("SLURM_TASKS_PER_NODE"),
                     .tasks = variable("SLURM_NTASKS"),
                     .cpus_per_task = variable("SLURM_CPUS_PER_TASK"),
                     .het_size = variable("SLURM_HET_SIZE")};
  if (all.nodes.empty()) all.nodes = variable("SLURM_NODELIST");
  if (all.tasks.empty()) all.tasks = variable("SLURM_NPROCS");
  for (const auto& [option, name] : gpu_option_variables) {
    if (const std::string value = variable(name); !value.empty()) all.gpu_options.emplace(option, value);
  }
  return all;
}

class SlurmPlace : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"--request", "REQUEST", "the request of the job, used if the srun command contains no --rankloom", "input"},
        job_request_);
    add_text(
        app,
        {"--network", "TOPOLOGY", "the machine with the names of its nodes, for requests that run a mapper", "input"},
        network_.topology);
    add_text(app,
             {"--nodes", "LIST", "the names of the nodes in order, if --network has only numbers: n[1-64]", "input"},
             network_.nodes);
    add_text(app,
             {"--config", "FILE",
              "the configuration of rankloom's Slurm plugins, which names the machine and its nodes", "input"},
             network_.config);
    exclude(app, "--config", "--network");
    add_repeated(
        app,
        {"COMMAND", "ARG", "after --: srun with its options, including --rankloom, and the program", "input", "", true},
        command_);
  }

  Result<int> run(const Session& session) override {
    auto placement = place();
    if (!placement) {
      if (strict_ && !session.json) print("refuse\n");
      return propagate(placement);
    }
    if (session.json) {
      print_json(to_json(*placement));
    } else if (!placement->bindings.empty()) {
      print(write_placement(*placement));
    }
    return success;
  }

 private:
  /// No slots: the step requests no placement.
  Result<StepPlacement> place() {
    auto command = parse_launch_command(command_, {});
    if (!command) {
      // The command cannot be parsed, so look for a strict request in its arguments.
      for (const std::string& argument : command_) strict_ |= argument.starts_with("--rankloom=strict:");
      strict_ |= is_strict(job_request_);
      command.error().hint = "write options of other plugins as --name=value";
      return propagate(command);
    }
    const LaunchOption* const option = command->find("rankloom");
    const std::string text = option != nullptr && !option->values.empty() ? option->values[0] : job_request_;
    // The shell that salloc opens on a node is not a program of the user.
    if ((option == nullptr && text.empty()) || command->find("interactive") != nullptr) return StepPlacement{};
    strict_ = is_strict(text);
    auto request = parse_step_request(text);
    if (!request) return propagate(request);
    request->set_by_job = option == nullptr;
    if (request->off || (request->set_by_job && has_placement_options(*command))) return StepPlacement{};
    auto step = parse_step(*command, variables());
    if (!step) return propagate(step);
    return place_step(*request, *step, network_);
  }

  static Json to_json(const StepPlacement& placement) {
    Json json{{"ranks", placement.bindings.size()}, {"bindings", Json::array()}};
    for (const StepBinding& binding : placement.bindings) {
      Json entry{{"host", binding.host}};
      if (binding.unit == StepBinding::Unit::os_index) entry["cpus"] = binding.cpus;
      if (binding.unit == StepBinding::Unit::position) entry["positions"] = binding.cpus;
      if (!binding.gpus.empty()) entry["gpus"] = binding.gpus;
      json["bindings"].push_back(std::move(entry));
    }
    if (placement.cost) {
      json["cost"] = *placement.cost;
      json["cost_default"] = *placement.cost_default;
    }
    return json;
  }

  std::string job_request_;
  SlurmNetwork network_;
  std::vector<std::string> command_;
  bool strict_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_place() {
  return std::make_unique<SlurmPlace>();
}

}  // namespace rankloom::app
