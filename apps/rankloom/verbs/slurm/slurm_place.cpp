// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom slurm place`: where the ranks of an srun go. The plugin of `srun --rankloom` asks this program.
#include <cstdlib>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/place/slurm/step.hpp"

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
                     .jobs_together = variable("SLURM_HET_SIZE")};
  if (all.nodes.empty()) all.nodes = variable("SLURM_NODELIST");
  if (all.tasks.empty()) all.tasks = variable("SLURM_NPROCS");
  return all;
}

class SlurmPlace : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"--asked", "REQUEST", "what the job asked for, when srun itself says nothing", "input"}, asked_);
    add_text(
        app,
        {"--network", "TOPOLOGY", "the machine, with the names of its nodes, for mappings that are made now", "input"},
        network_.topology);
    add_text(app, {"--nodes", "LIST", "the names of its nodes, in order, when it only numbers them: n[1-64]", "input"},
             network_.nodes);
    add_text(app, {"--config", "FILE", "both, from the file that configures rankloom's plugins for Slurm", "input"},
             network_.config);
    exclude(app, "--config", "--network");
    add_repeated(app,
                 {"COMMAND", "WORD", "after --: srun with its options, --rankloom among them, and the program",
                  "input", "", true},
                 words_);
  }

  Result<int> run(const Session& session) override {
    auto placement = place();
    if (!placement) {
      if (strict_ && !session.json) print("refuse\n");
      return propagate(placement);
    }
    if (session.json) {
      print_json(to_json(*placement));
    } else if (!placement->seats.empty()) {
      print(write_placement(*placement));
    }
    return success;
  }

 private:
  /// No seats: nothing is asked for.
  Result<StepPlacement> place() {
    auto command = parse_launch_command(words_, {});
    if (!command) {
      // What the user asked for is not sure, but his words are the best guess.
      for (const std::string& word : words_) strict_ |= word.starts_with("--rankloom=strict:");
      strict_ |= is_strict(asked_);
      command.error().hint = "write options of other plugins as --name=value";
      return propagate(command);
    }
    const LaunchOption* const own = command->find("rankloom");
    const std::string asked = own != nullptr && !own->values.empty() ? own->values[0] : asked_;
    // The shell that salloc opens on a node is no program of the user's.
    if ((own == nullptr && asked.empty()) || command->find("interactive") != nullptr) return StepPlacement{};
    strict_ = is_strict(asked);
    auto request = parse_step_request(asked);
    if (!request) return propagate(request);
    request->of_job = own == nullptr;
    if (request->off || (request->of_job && orders_itself(*command))) return StepPlacement{};
    auto step = understand_step(*command, variables());
    if (!step) return propagate(step);
    return place_step(*request, *step, network_);
  }

  static Json to_json(const StepPlacement& placement) {
    Json json{{"ranks", placement.seats.size()}, {"seats", Json::array()}};
    for (const StepSeat& seat : placement.seats) {
      Json entry{{"host", seat.host}};
      if (seat.by == StepSeat::By::number) entry["cpu"] = seat.cpu;
      if (seat.by == StepSeat::By::position) entry["position"] = seat.cpu;
      json["seats"].push_back(std::move(entry));
    }
    if (placement.cost) {
      json["cost"] = *placement.cost;
      json["cost_default"] = *placement.cost_default;
    }
    return json;
  }

  std::string asked_;
  SlurmNetwork network_;
  std::vector<std::string> words_;
  bool strict_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_place() {
  return std::make_unique<SlurmPlace>();
}

}  // namespace rankloom::app
