// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom run`: launches the user's command as the mapping places its ranks, and verifies every
// rank.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/launch/automatic_mapping.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

class RunVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    input_.describe(app, false);
    add_switch(
        app, "--auto",
        "without MAPPING: use the profile that `record` or `tune` stored for this program and number of ranks, on "
        "the hosts of this job; run COMMAND as it is if there is none",
        auto_, "input");
    add_repeated(app, {"COMMAND", "COMMAND", "after --: the launcher, its options, the program", "input"}, command_);
    add_text(app,
             {"--program", "PROGRAM",
              "the program in COMMAND; needed if the launcher has options that rankloom does not know", "input"},
             program_);
    add_switch(app, "--strict", "exit with status 5 when a rank does not run where the mapping places it", strict_,
               "placement");
    add_switch(app, "--lab", "launch on the hosts of `rankloom lab up`, which are the machine unless -t names another",
               lab_, "placement");
    add_switch(app, "--dry-run", "print what would be run, and do not run the program", dry_run_, "output");
    add_text(
        app,
        {"-o,--output", "DIRECTORY",
         "keep the launcher's files and the reports of the ranks here; all hosts must share the directory", "output"},
        output_);
    add_force(app, force_);
  }

  Result<int> run(const Session& session) override {
    if (lab_) {
      if (auto entered = enter_lab(); !entered) return propagate(entered);
    }
    if (auto_) return run_automatically(session);
    if (input_.mapping.empty() || command_.empty()) {
      return fail(Code::usage, at("run"), input_.mapping.empty() ? "MAPPING is missing" : "COMMAND is missing",
                  "usage: rankloom run MAPPING -t TOPOLOGY -- COMMAND, or rankloom run --auto -- COMMAND");
    }
    auto command = parse_launch_command(command_, launcher_version(command_), program_);
    if (!command) return propagate(command);
    if (auto accepted = check_launch(*command, launch_context("DIRECTORY", EmitOptions::Bind::core)); !accepted)
      return propagate(accepted);
    auto shape = job_shape(*command);
    if (!shape) return propagate(shape);
    const EmitOptions::Bind bind = input_.binding(*shape);
    // Ranks that are not bound need no slots.
    auto deployment = input_.load(bind == EmitOptions::Bind::core ? *shape : JobShape{});
    if (!deployment) return propagate(deployment);
    if (auto named = require_host_names(*deployment, input_.names_hosts(*deployment)); !named) return propagate(named);
    RunDirectory directory;
    if (!dry_run_) {
      // A command that is refused must not create a directory.
      if (auto plan = plan_in("DIRECTORY", *command, *deployment, bind); !plan) return propagate(plan);
      if (auto created = directory.create(output_, existing(force_)); !created) return propagate(created);
    }
    return launch(session, *command, *deployment, bind, shape->unbound_by, directory);
  }

 private:
  /// Falls back to the command as it is: a job must not fail because its mapping is missing.
  Result<int> run_automatically(const Session& session) {
    Argv argv = command_;
    // The arguments after -- begin with the place of MAPPING.
    if (!input_.mapping.empty()) argv.insert(argv.begin(), std::exchange(input_.mapping, {}));
    if (argv.empty()) {
      return fail(Code::usage, at("run --auto"), "COMMAND is missing", "rankloom run --auto -- mpirun -n 4 ./app");
    }
    const auto begins_with_launcher = [](std::span<const std::string> words) {
      const std::size_t position = launcher_position(words);
      return position < words.size() && is_launcher_name(std::filesystem::path(words[position]).filename().string());
    };
    if (!begins_with_launcher(argv) && begins_with_launcher(std::span(argv).subspan(1))) {
      return fail(Code::usage, at("run --auto"),
                  fmt::format("\"{}\" is not a launcher, and --auto takes no MAPPING", argv[0]),
                  "rankloom run --auto -- mpirun -n 4 ./app");
    }
    // Up to the start of the program, every failure ends in the command as it is.
    RunDirectory directory;
    std::optional<AutomaticMapping> mapped;
    try {
      auto prepared = prepare(argv, directory);
      if (!prepared) return run_unchanged(session, argv, prepared.error());
      mapped = *std::move(prepared);
    } catch (const std::exception& exception) {
      return run_unchanged(session, argv, {Code::environment, at("run --auto"), exception.what(), {}});
    }
    if (!session.json)
      print_note(fmt::format("{:.0f} % less predicted communication time than the default placement, with {}{}",
                             mapped->gain_percent, mapped->profile,
                             mapped->same_arguments ? "" : ", recorded with other arguments"));
    return launch(session, mapped->command, mapped->deployment, mapped->bind, mapped->unbound_by, directory);
  }

  /// Maps, and writes the launcher's files.
  Result<AutomaticMapping> prepare(const Argv& argv, RunDirectory& directory) const {
    auto intermediate = TemporaryDirectory::make();
    if (!intermediate) return propagate(intermediate);
    auto mapped = map_automatically(argv, program_, input_, intermediate->path());
    if (!mapped) return mapped;
    if (!dry_run_) {
      if (auto created = directory.create(output_, existing(force_)); !created) return propagate(created);
    }
    auto plan = plan_in(dry_run_ ? "DIRECTORY" : directory.path(), mapped->command, mapped->deployment, mapped->bind);
    if (!plan) return propagate(plan);
    if (!dry_run_) {
      if (auto written = directory.write(plan->files); !written) return propagate(written);
    }
    return mapped;
  }

  static Result<LaunchPlan> plan_in(const std::string& directory, const LaunchCommand& command,
                                    const Deployment& deployment, EmitOptions::Bind bind) {
    LaunchContext context = launch_context(directory, bind);
    context.threads = true;
    return plan_launch(command, deployment, context);
  }

  Result<int> run_unchanged(const Session& session, const Argv& argv, const Error& reason) const {
    const std::string why = to_string({reason.code, reason.where, reason.what, {}});
    if (!session.json) {
      print_note(fmt::format("the command is run without a mapping: {}{}", why,
                             reason.hint.empty() ? "" : fmt::format("\n  hint: {}", reason.hint)));
    }
    if (dry_run_) {
      if (session.json) {
        print_json(Json{{"command", command_text(argv)}, {"mapped", false}, {"reason", why}});
      } else {
        print(command_text(argv) + "\n");
      }
      return success;
    }
    const int status = run_program(argv, {}, ProgramStreams::ours(session.json));
    if (session.json)
      print_json(Json{{"command", command_text(argv)}, {"mapped", false}, {"reason", why}, {"status", status}});
    return status;
  }

  /// `directory` exists, unless nothing is run.
  Result<int> launch(const Session& session, const LaunchCommand& command, const Deployment& deployment,
                     EmitOptions::Bind bind, const std::string& unbound_by, RunDirectory& directory) {
    if (dry_run_) {
      auto plan = plan_in(output_.empty() ? "DIRECTORY" : output_, command, deployment, bind);
      if (!plan) return propagate(plan);
      return show(session, *plan);
    }
    auto plan = plan_in(directory.path(), command, deployment, bind);
    if (!plan) return propagate(plan);
    if (!session.json && !plan->replaced.empty()) print_to_stderr(fmt::format("rankloom: {}\n", plan->replacements()));
    if (!session.json && bind == EmitOptions::Bind::none && !input_.bind)
      print_to_stderr(fmt::format("rankloom: ranks are not bound to cores{}\n",
                                  unbound_by.empty() ? "" : ", because of " + unbound_by));
    auto result = run_placed(*plan, deployment, bind, directory, ProgramStreams::ours(session.json));
    if (!result) return propagate(result);
    if (session.json) {
      print_json(to_json(*result, *plan));
    } else {
      print_to_stderr(to_text(*result, session.width));
    }
    if (result->status == 0 && strict_ && !result->verification.all()) return static_cast<int>(Code::environment);
    return result->status;
  }

  /// Moves this process to the first host of the virtual cluster.
  Result<void> enter_lab() {
    const char* const inside = std::getenv("RANKLOOM_LAB");
    auto cluster = find_virtual_cluster(inside != nullptr ? inside : VirtualClusterOptions().name);
    if (!cluster) return propagate(cluster);
    if (!input_.topology.given()) input_.machine = virtual_cluster_machine(*cluster);
    return enter_virtual_host(*cluster, cluster->hosts.front().name);
  }

  static Result<int> show(const Session& session, const LaunchPlan& plan) {
    if (session.json) {
      Json files = Json::array();
      for (const LauncherFile& file : plan.files) files.push_back({{"name", file.name}, {"content", file.content}});
      print_json(Json{{"command", plan.text()}, {"replaced", plan.replaced}, {"files", files}});
      return success;
    }
    for (const LauncherFile& file : plan.files) print(fmt::format("# {}\n{}\n", file.name, file.content));
    for (const std::string& option : plan.replaced) print(fmt::format("# replaces {}\n", option));
    print(plan.text() + "\n");
    return success;
  }

  static Json to_json(const PlacedRun& run, const LaunchPlan& plan) {
    const Verification& seen = run.verification;
    Json differences = Json::array();
    for (const Difference& difference : seen.differences) {
      differences.push_back(
          {{"rank", index(difference.rank)}, {"requested", difference.requested}, {"actual", difference.actual}});
    }
    return {{"verified", seen.all()},        {"ranks", seen.ranks},        {"confirmed", seen.confirmed},
            {"unreported", seen.unreported}, {"differences", differences}, {"status", run.status},
            {"command", plan.text()},        {"replaced", plan.replaced},  {"mapped", true}};
  }

  static std::string to_text(const PlacedRun& run, std::size_t width) {
    const Verification& seen = run.verification;
    std::string text = fmt::format("rankloom: {}{} of {} ranks placed as requested\n", seen.all() ? "" : "only ",
                                   seen.confirmed, seen.ranks);
    if (seen.all()) return text;
    constexpr std::size_t max_rows = 20;
    Table table({{"rank", Table::Align::right}, {"requested"}, {"actual"}});
    for (std::size_t i = 0; i < std::min(max_rows, seen.differences.size()); ++i) {
      const Difference& difference = seen.differences[i];
      table.row({fmt::format("{}", index(difference.rank)), difference.requested, difference.actual});
    }
    text += table.text(width);
    if (seen.differences.size() > max_rows) text += fmt::format("  and {} more\n", seen.differences.size() - max_rows);
    if (seen.unreported == seen.ranks && run.status != 0)
      text +=
          "  hint: the launcher exited before it started a rank. Open MPI does so without a message when a slot of the "
          "rankfile does not exist on its host: check the processing units in the topology\n";
    else if (seen.unreported > 0)
      text +=
          "  hint: ranks that did not report may run on hosts that do not share this directory; name a shared one with "
          "-o DIRECTORY\n";
    return text;
  }

  DeploymentArguments input_;
  std::vector<std::string> command_;
  std::string program_;
  std::string output_;
  bool force_ = false;
  bool auto_ = false;
  bool strict_ = false;
  bool lab_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run() {
  return std::make_unique<RunVerb>();
}

}  // namespace rankloom::app
