// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm place`: computes the placement of an srun step for the plugin of `srun --rankloom`.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/slurm/learned_step.hpp"
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
  // Slurm itself sets per_task for jobs with --gpus-per-task; anything else is the choice of the user.
  const std::string bind = variable("SLURM_TRES_BIND");
  if (!bind.empty() && !bind.starts_with("gres/gpu:per_task:")) all.gpu_options.emplace("tres-bind", bind);
  return all;
}

/// Starts a step of one rank per node and returns the nodes in the order of the ranks. Nothing but the number of ranks
/// influences the step: neither the options of the job nor a request for a placement.
Result<std::vector<std::string>> ask_rank_order(const SlurmStep& step) {
  Argv command{"env"};
  for (const char* const name :
       {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS", "SLURM_NPROCS",
        "SLURM_CPUS_PER_TASK", "SLURM_TRES_BIND", "SLURM_MEM_PER_CPU",
        "SLURM_SPANK__SLURM_SPANK_OPTION_rankloom_rankloom", "_SLURM_SPANK_OPTION_rankloom_rankloom"})
    command.insert(command.end(), {"-u", name});
  for (const auto& [option, name] : gpu_option_variables) command.insert(command.end(), {"-u", name});
  const std::string nodes = std::to_string(step.nodes.size());
  command.insert(command.end(),
                 {"srun", "--quiet", "--overlap", "--immediate=30", "--mem=0", "--mpi=none", "--cpu-bind=none", "-N",
                  nodes, "-n", nodes, "-c", "1", "sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME"});
  std::vector<std::string> order(step.nodes.size());
  auto status = run_lines(command, [&](std::string_view line) {
    std::size_t rank = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), rank);
    if (error != std::errc() || rank >= order.size() || end == line.data() + line.size()) return;
    order[rank] = line.substr(static_cast<std::size_t>(end - line.data()) + 1);
  });
  if (!status) return propagate(status);
  for (const JobNode& node : step.nodes) {
    if (*status == 0 && std::count(order.begin(), order.end(), node.name) == 1) continue;
    return fail(Code::environment, at("--ask-order"),
                *status != 0
                    ? fmt::format("the step that asks for the order of ranks ended with exit status {}", *status)
                    : fmt::format("the step that asks for the order of ranks did not run once on {}", node.name),
                "run it inside the job while no other step has all processors exclusively, or leave --ask-order out");
  }
  return order;
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
    add_switch(app, "--ask-order",
               "ask Slurm by a short step in which order it fills the nodes of the job with ranks, for the default "
               "placement that is compared with the mapping; otherwise the order of the node list is assumed",
               ask_order_, "input");
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
    if (!placement->note.empty()) print_note(placement->note);
    if (session.json) {
      print_json(to_json(*placement));
    } else if (!placement->placement.bindings.empty()) {
      print(write_placement(placement->placement));
    } else if (const StepRecording& recording = placement->recording; !recording.directory.empty()) {
      print(fmt::format("record\n{}\n{}\n{}\n", recording.directory, recording.prefix, recording.library));
    }
    return success;
  }

 private:
  /// No slots: the step requests no placement, or it is recorded.
  Result<LearnedStep> place() {
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
    if ((option == nullptr && text.empty()) || command->find("interactive") != nullptr) return LearnedStep{};
    strict_ = is_strict(text);
    auto request = parse_step_request(text);
    if (!request) return propagate(request);
    request->set_by_job = option == nullptr;
    if (request->off || (request->set_by_job && has_placement_options(*command))) return LearnedStep{};
    auto step = parse_step(*command, variables());
    if (!step) return propagate(step);
    if (ask_order_ && !step->nodes.empty()) {
      auto order = ask_rank_order(*step);
      if (!order) return propagate(order);
      step->rank_order = std::move(*order);
    }
    if (request->learn) return learn_step(variable("SLURM_JOB_NAME"), *request, *command, *step, network_);
    auto placement = place_step(*request, *step, network_);
    if (!placement) return propagate(placement);
    return LearnedStep{.placement = *std::move(placement)};
  }

  static Json to_json(const LearnedStep& step) {
    if (!step.recording.directory.empty()) {
      return {
          {"record", step.recording.directory}, {"prefix", step.recording.prefix}, {"library", step.recording.library}};
    }
    const StepPlacement& placement = step.placement;
    Json json{{"ranks", placement.bindings.size()}, {"bindings", Json::array()}};
    for (const StepBinding& binding : placement.bindings) {
      Json entry{{"host", binding.host}};
      if (binding.unit == StepBinding::Unit::os_index) entry["cpus"] = binding.cpus;
      if (binding.unit == StepBinding::Unit::position) entry["positions"] = binding.cpus;
      if (!binding.gpus.empty()) entry["gpus"] = binding.gpus;
      json["bindings"].push_back(std::move(entry));
    }
    if (placement.costs) {
      json["model"] = info(placement.costs->model).name;
      json["cost"] = placement.costs->mapped;
      json["cost_default"] = placement.costs->by_default;
    }
    return json;
  }

  std::string job_request_;
  SlurmNetwork network_;
  std::vector<std::string> command_;
  bool ask_order_ = false;
  bool strict_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_place() {
  return std::make_unique<SlurmPlace>();
}

}  // namespace rankloom::app
