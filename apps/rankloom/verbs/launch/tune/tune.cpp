// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: `rankloom tune`: records a program, discovers the machine, maps, measures the placements in
// turn, and prints the fastest command. --dry-run prints the equivalent commands.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <regex>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/launch/tune/commands.hpp"
#include "apps/rankloom/verbs/launch/tune/result.hpp"
#include "apps/rankloom/verbs/launch/tune/script.hpp"
#include "apps/rankloom/verbs/launch/tune/tuner.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

bool is_metric(const std::string& text) {
  try {
    return std::regex(text).mark_count() > 0;
  } catch (const std::regex_error&) {
    return false;
  }
}

class TuneVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"--profile", "PROFILE", "the communication pattern, instead of recording it in a first run", "input"},
             arguments_.profile);
    add_text(app, {"-t,--topology", "TOPOLOGY", "the machine, instead of discovering it", "input"},
             arguments_.topology);
    add_switch(app, "--probe",
               "measure the communication costs of the machine instead of deriving them from its structure",
               arguments_.probe, "input");
    add_switch(app, "--lab", "run on the hosts of `rankloom lab up`", arguments_.lab, "input");
    add_text(app, {"-a,--mapper", "MAPPER", "the mapper, with its options", "mapping", "auto"}, arguments_.mapper);
    add_count(
        app,
        {"--candidates", "N",
         "first run the best N mappings for different goals, leave out the slower half again and again, and "
         "compare the fastest with the default placement by new runs",
         "mapping", "1"},
        [this](std::size_t candidates) { arguments_.candidates = candidates; }, max_candidates);
    add_count(app, {"--runs", "N", "runs with each placement before the first comparison", "measuring", "5"},
              [this](std::size_t runs) { arguments_.comparison.min_pairs = runs; });
    add_count(app,
              {"--max-runs", "N", "runs with each placement at most; they are added until the difference is clear",
               "measuring", "20"},
              [this](std::size_t runs) { arguments_.max_runs = runs; });
    add_value(
        app,
        {"--max-time", "TIME", "beyond --runs, start no runs that would end later than this", "measuring", "30min"},
        [this](std::string_view text) -> Result<void> {
          const auto time = parse_nanoseconds(text, 1e9);
          if (!time || *time < 0) return bad_value("--max-time", text, "a time such as 10min or 90s");
          arguments_.max_seconds = *time / 1e9;
          return {};
        });
    add_value(app,
              {"--metric", "REGEX",
               "compare a time that the program prints (or a rate, with --higher-is-better), instead of the time of "
               "the whole "
               "program: the first group of this regular expression, in the last line that matches",
               "measuring"},
              [this](std::string_view text) -> Result<void> {
                arguments_.metric = std::string(text);
                if (is_metric(arguments_.metric)) return {};
                return bad_value("--metric", text,
                                 "a regular expression with a group, such as 'time per step: (.*) s'");
              });
    add_switch(app, "--higher-is-better", "the value of --metric is a rate: GB/s, GFLOP/s, steps per second",
               arguments_.higher_is_better, "measuring");
    need(app, "--higher-is-better", "--metric");
    add_switch(app, "--predict",
               "simulate both placements first, print the predicted speedup, and stop if there is none",
               arguments_.predict, "measuring");
    add_switch(app, "--try-smt",
               "on cores with several hardware threads (SMT): also measure ranks that use one of them per core, or all "
               "of them if COMMAND limits them",
               arguments_.try_smt, "measuring");
    add_switch(app, "--dry-run", "print the equivalent commands, and run nothing", dry_run_, "output");
    add_text(app,
             {"-o,--output", "DIRECTORY", "the directory for all results; all hosts must share it", "output",
              "PROGRAM.tune"},
             arguments_.output);
    add_force(app, arguments_.force, "replace the results of another run and other files in the directory");
    add_text(
        app,
        {"--script", "FILE",
         "write a copy of this job script that measures the program of its launch line, instead of running COMMAND",
         "job script"},
        script_.script);
    add_count(app, {"--line", "N", "with --script: the line that starts the program", "job script"},
              [this](std::size_t line) { script_.line = line; });
    add_switch(app, "--submit", "with --script: submit the copy with sbatch", script_.submit, "job script");
    need(app, "--line", "--script");
    need(app, "--submit", "--script");
    add_repeated(app, {"COMMAND", "COMMAND", "after --: how you start the program", "input"}, arguments_.command);
  }

  Result<int> run(const Session& session) override {
    if (!script_.script.empty()) return write_tune_script(script_, arguments_, session);
    if (arguments_.command.empty()) {
      return fail(Code::usage, at("tune"), "COMMAND is missing",
                  "usage: rankloom tune -- mpirun -n 4 ./app, or rankloom tune --script job.sh");
    }
    auto launch = parse_launch_command(arguments_.command, launcher_version(arguments_.command));
    if (!launch) return propagate(launch);
    const Argv& program = launch->programs.front().arguments;
    if (arguments_.output.empty())
      arguments_.output = (program.empty() ? "program" : fs::path(program[0]).filename().string()) + ".tune";
    ComparisonOptions& comparison = arguments_.comparison;
    comparison.max_pairs = arguments_.max_runs.value_or(std::max(comparison.max_pairs, comparison.min_pairs));
    if (auto accepted = check_launch(*launch, launch_context("DIRECTORY", EmitOptions::Bind::core)); !accepted)
      return propagate(accepted);
    auto shape = job_shape(*launch);
    if (!shape) return propagate(shape);
    if (dry_run_) {
      print(TuneCommands(arguments_, *launch).text());
      return success;
    }
    auto output = open_output();
    if (!output) return propagate(output);
    if (arguments_.lab) {
      if (auto entered = enter_lab(); !entered) return propagate(entered);
    }
    // Not before: a process with several threads cannot enter a virtual cluster.
    ProgressDisplay progress(stderr, session.progress);
    Tuner tuner(arguments_, *launch, *shape, *output, progress, session.json);
    auto result = tuner.tune();
    progress.finish();
    if (!result) return propagate(result);
    const Json json = result->json();
    if (result->failed) {
      show_error(result->failed->error(result->command), false);
      if (session.json) print_json(json);
      return result->failed->status;
    }
    const fs::path directory(arguments_.output);
    if (auto written = write_file((directory / "result.json").string(), to_line(json)); !written)
      return propagate(written);
    const bool reported = tuner.write_page();
    if (session.json) {
      print_json(json);
      return success;
    }
    print(result->conclusion());
    if (reported) {
      print(fmt::format("report: {} (write it again with: {})\n", (directory / "report.html").string(),
                        command_text({"rankloom", "report", arguments_.output, "-o", "report.html"})));
    }
    return success;
  }

 private:
  static constexpr std::size_t max_candidates = 32;

  static void add_count(CLI::App& app, const OptionText& text, const std::function<void(std::size_t)>& set,
                        std::size_t max = 1000) {
    add_value(app, text, [name = text.names, set, max](std::string_view value) -> Result<void> {
      const auto number = parse_number(value);
      if (!number || *number < 1 || *number > static_cast<double>(max) || *number != std::floor(*number))
        return bad_value(name, value, fmt::format("a number from 1 to {}", max));
      set(static_cast<std::size_t>(*number));
      return {};
    });
  }

  /// Measurements cannot be repeated exactly, so those of another run are only replaced with --force.
  Result<OutputDirectory> open_output() const {
    const std::vector<std::string> results{"result.json", "report.html"};
    auto output = OutputDirectory::open(arguments_.output, existing(arguments_.force));
    if (!output) return output;
    if (output->owns(results[0]) && !arguments_.force) {
      return fail(Code::usage, at(arguments_.output), "this directory contains the results of another run",
                  "name another directory with -o, or replace the results with --force");
    }
    std::vector<std::string> files = results;
    files.emplace_back("mapping.txt");
    for (std::size_t number = 1; arguments_.candidates > 1 && number <= arguments_.candidates; ++number)
      files.push_back(TuneCommands::candidate_name(number));
    if (arguments_.try_smt) files.emplace_back("mapping-smt.txt");
    if (arguments_.profile.empty()) files.emplace_back("app.prof");
    if (arguments_.topology.empty()) files.emplace_back("machine.json");
    if (auto reserved = output->reserve(files); !reserved) return propagate(reserved);
    for (const std::string& name : results) output->remove(name);
    return output;
  }

  /// Moves this process to the first host of the virtual cluster, whose machine needs no discovery.
  Result<void> enter_lab() {
    const char* const inside = std::getenv("RANKLOOM_LAB");
    auto cluster = find_virtual_cluster(inside != nullptr ? inside : VirtualClusterOptions().name);
    if (!cluster) return propagate(cluster);
    if (arguments_.topology.empty() && !arguments_.probe) {
      const std::string machine = (fs::path(arguments_.output) / "machine.json").string();
      if (auto written = write_file(machine, write_machine_json(virtual_cluster_machine(*cluster))); !written)
        return written;
      arguments_.topology = machine;
    }
    return enter_virtual_host(*cluster, cluster->hosts.front().name);
  }

  TuneArguments arguments_;
  TuneScriptArguments script_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_tune() {
  return std::make_unique<TuneVerb>();
}

}  // namespace rankloom::app
