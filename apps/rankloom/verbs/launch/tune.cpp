// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom tune`: records a program, discovers the machine, maps, measures both placements in turn,
// and prints the faster command. Each step calls the function of another verb; --dry-run prints the equivalent
// commands.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <regex>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/help/doctor.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/job_mapping.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/evaluation/report.hpp"
#include "apps/rankloom/verbs/launch/tune_commands.hpp"
#include "apps/rankloom/verbs/launch/tune_result.hpp"
#include "apps/rankloom/verbs/launch/tune_script.hpp"
#include "apps/rankloom/verbs/machine/topo_discover.hpp"
#include "apps/rankloom/verbs/machine/topo_probe.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Runs the steps. Every step writes a log into the output directory.
class Tuner {
 public:
  Tuner(const TuneArguments& arguments, const LaunchCommand& launch, const JobShape& shape, OutputDirectory& directory,
        bool quiet)
      : arguments_(arguments),
        launch_(launch),
        directory_(directory),
        commands_(arguments, launch),
        job_(*launch.launcher, shape, commands_.profile(), commands_.machine()),
        quiet_(quiet) {}

  Result<TuneResult> tune() {
    result_.command = command_text(arguments_.command);
    result_.directory = arguments_.output;
    result_.profile = arguments_.profile;
    result_.topology = arguments_.topology;
    result_.metric = arguments_.metric;
    remove_logs();
    append_to_log("doctor.log", to_text(examine_environment()));
    if (arguments_.profile.empty()) {
      if (auto done = record(); !done) return propagate(done);
      if (result_.failed) return result_;
    }
    if (arguments_.topology.empty()) {
      if (auto done = logged(discover(), commands_.discover(), "machine.log"); !done) return propagate(done);
    }
    if (auto done = logged(summarise_profile(), commands_.show(), "show.log"); !done) return propagate(done);
    if (auto done = logged(fit(), {"rankloom", "topo", "show", commands_.machine(), "--json"}, "topo.log"); !done)
      return propagate(done);
    if (auto done = logged(map(), commands_.map(job_.oversubscribes(), job_.slots()), "map.log"); !done)
      return propagate(done);
    if (!result_.reduces_cost() || !result_.can_gain()) return result_;
    print_progress(fmt::format("mapping    {} less communication cost than the default placement",
                               percent(100 * (1 - result_.cost / result_.cost_default))));
    if (arguments_.predict) {
      if (auto done = logged(predict(), commands_.predict(), "predict.log"); !done) return propagate(done);
      if (!result_.predicts_gain()) return result_;
    }
    if (auto done = measure(); !done) return propagate(done);
    if (result_.gain()) {
      auto use = logged(emit(), commands_.emit(), "emit.log");
      if (use) result_.use = *use;
    }
    return result_;
  }

  /// After result.json is written. Everything is measured by then, so a failure costs nothing but the page.
  bool write_page() {
    const auto write = [&]() -> Result<void> {
      ReportArguments report;
      report.results = {arguments_.output};
      auto loaded = report.load(Progress::none());
      if (!loaded) return propagate(loaded);
      return write_report(*loaded, commands_.file("report.html"));
    };
    return logged(write(), commands_.report(), "report.log").has_value();
  }

  std::string conclusion() const {
    return result_.conclusion(commands_.mapping(), commands_.machine(), job_.bind() == EmitOptions::Bind::none);
  }

 private:
  void print_progress(std::string_view text) const {
    if (!quiet_) fmt::print(stderr, "{}\n", text);
  }

  /// Removes the logs of an earlier call with the same output directory.
  void remove_logs() const {
    for (const std::string& name : directory_.listed())
      if (name.ends_with(".log")) directory_.remove(name);
  }

  /// The path of a log that this run writes. A file of the user is not replaced.
  std::string log_file(const std::string& name) const {
    return directory_.reserve({name}) ? commands_.file(name) : "/dev/null";
  }

  /// A log that cannot be written does not stop the tuning.
  void append_to_log(const std::string& name, const std::string& text) const {
    const std::string file = log_file(name);
    const auto earlier = read_file(file);
    (void)write_file(file, (earlier ? std::string(earlier->view()) : "") + text);
  }

  /// Passes a step's value on. The step's log contains the output of the programs that it runs, or else the equivalent
  /// command. A failure is added to the log.
  template <class T>
  Result<T> logged(Result<T> value, const Argv& command, const std::string& log) const {
    std::error_code ignored;
    const std::string typed = command_text(command);
    if (value) {
      if (!fs::exists(commands_.file(log), ignored)) append_to_log(log, fmt::format("$ {}\n", typed));
      return value;
    }
    append_to_log(log, fmt::format("$ {}\n{}\n", typed, to_string(value.error())));
    return fail(Code::environment, at(fmt::format("rankloom {}", command[1])), value.error().what,
                fmt::format("look into {}, or run the step alone: {}", commands_.file(log), typed));
  }

  Result<void> record() {
    print_progress(fmt::format("recording  {}", command_text(arguments_.command)));
    const std::string log = log_file("record.log");
    RecordArguments record;
    record.command = arguments_.command;
    record.output = commands_.file("app.prof");
    record.streams = ProgramStreams::to_log(log);
    auto recorded = record_program(record);
    if (!recorded) return propagate(logged(std::move(recorded), commands_.record(), "record.log"));
    if (recorded->status != 0) {
      set_failed("the recording run", recorded->status, log);
      return {};
    }
    if (recorded->error) {
      return fail(Code::environment, at("tune"), recorded->error->what,
                  fmt::format("look into {}; {}", log, recorded->error->hint));
    }
    return {};
  }

  void set_failed(std::string run, int status, const std::string& log) {
    constexpr std::size_t max_lines = 20;  // launchers add about ten lines of their own
    FailedRun failed{.run = std::move(run), .status = status, .log = log, .tail = {}};
    if (const auto output = read_file(log)) {
      std::string_view text = output->view();
      while (text.ends_with('\n')) text.remove_suffix(1);
      while (!text.empty() && failed.tail.size() < max_lines) {
        const std::size_t newline = text.rfind('\n');
        failed.tail.emplace_back(newline == std::string_view::npos ? text : text.substr(newline + 1));
        text = text.substr(0, newline == std::string_view::npos ? 0 : newline);
      }
      std::reverse(failed.tail.begin(), failed.tail.end());
    }
    result_.failed = std::move(failed);
  }

  Result<void> discover() const {
    print_progress(arguments_.probe ? "machine    measuring it" : "machine    discovering its hosts");
    std::string other_output;
    const auto on_line = [&](std::string_view line) { other_output += fmt::format("{}\n", line); };
    auto machine = arguments_.probe ? probe(on_line) : discover_hosts(on_line);
    if (!other_output.empty()) append_to_log("machine.log", other_output);
    if (!machine) return propagate(machine);
    return write_file(commands_.machine(), write_machine_json(*machine));
  }

  Result<MachineSpec> discover_hosts(const std::function<void(std::string_view)>& on_line) const {
    DiscoverArguments discover;
    discover.launcher = commands_.launcher();
    discover.other_output = on_line;
    discover.error_log = log_file("machine.log");
    auto machine = discover_machine(discover);
    if (!machine) return machine;
    auto topology = Topology::build(std::move(*machine));
    if (!topology) return propagate(topology);
    return topology->spec();
  }

  Result<MachineSpec> probe(const std::function<void(std::string_view)>& on_line) const {
    ProbeArguments probe;
    probe.launcher = commands_.launcher();
    probe.other_output = on_line;
    probe.error_log = log_file("machine.log");
    auto probed = probe_machine(probe);
    if (!probed) return propagate(probed);
    auto topology = Topology::build(std::move(probed->machine));
    if (!topology) return propagate(topology);
    return topology->spec();
  }

  Result<void> summarise_profile() {
    auto summary = job_.summarise();
    if (!summary) return propagate(summary);
    const double point_to_point = summary->between_ranks.bytes, collectives = summary->collectives.bytes;
    result_.ranks = summary->ranks;
    result_.collectives_share = point_to_point + collectives > 0 ? collectives / (point_to_point + collectives) : 0;
    if (summary->time) result_.share_in_mpi = summary->time->share();
    return {};
  }

  Result<void> fit() {
    if (auto fitted = job_.fit(); !fitted) return fitted;
    result_.cores = job_.cores();
    result_.nodes = job_.nodes();
    if (!job_.threads_remark().empty()) print_progress("threads    " + job_.threads_remark());
    return {};
  }

  Result<void> map() {
    auto mapped = job_.map(arguments_.mapper, commands_.mapping());
    if (!mapped) return propagate(mapped);
    result_.mapper = mapped->mapper;
    result_.cost = mapped->cost;
    result_.cost_default = mapped->cost_default;
    return {};
  }

  /// Simulates the recorded messages with the default placement and with the mapping.
  Result<void> predict() {
    SimulationArguments simulation;
    if (auto prepared = simulation.prepare(); !prepared) return prepared;
    const ProblemArguments arguments = job_.problem(true);
    auto instance = arguments.load(Progress::none(), true);
    if (!instance) return propagate(instance);
    auto source = simulation.replay_source(arguments.profile, *instance->profile, instance->format);
    if (!source) return propagate(source);
    std::vector<SimulationRequest> requests;
    for (const std::string& name : {std::string(instance->default_name), commands_.mapping()}) {
      auto placement = named_placement(name, *instance, instance->capacities, {}, Progress::none());
      if (!placement) return propagate(placement);
      requests.push_back(simulation.request(instance->topology));
      requests.back().jobs.push_back(
          {.name = name, .traces = source->files, .core_of = std::move(*placement), .start = 0});
      if (source->synthesised) requests.back().eager = SyntheticTrace::eager;
    }
    auto simulated = simulate(requests, simulation.options, Progress::none());
    if (!simulated) return propagate(simulated);
    result_.prediction = {(*simulated)[0].seconds, (*simulated)[1].seconds};
    print_progress(
        fmt::format("predicted  {:.2f} times faster: {} default placement, {} with the mapping, in a simulation",
                    result_.prediction->speedup(), format_seconds(result_.prediction->before_seconds),
                    format_seconds(result_.prediction->after_seconds)));
    return {};
  }

  /// Both placements have the same number of threads.
  Result<Deployment> deployment() const {
    return deployment_of(commands_.mapping(), commands_.machine(), {.threads = job_.threads()});
  }

  /// The user's command as it is, except that every rank reports where it runs, as with a mapping: both placements are
  /// launched and timed by the same code.
  Result<LaunchPlan> plan_default(const LaunchCommand& launch, const std::string& directory) const {
    return plan_unchanged(launch, launch_context(directory, job_.bind()));
  }

  Result<PlacedRun> run_once(const LaunchCommand& launch, const Deployment& deployment, bool mapped,
                             const std::string& log) const {
    RunDirectory directory;
    const std::string name = mapped ? commands_.launch_directory() : commands_.default_directory();
    if (auto created = directory.create(name, existing(arguments_.force)); !created) return propagate(created);
    auto plan = mapped ? plan_launch(launch, deployment, launch_context(directory.path(), job_.bind()))
                       : plan_default(launch, directory.path());
    if (!plan) return propagate(plan);
    return run_placed(*plan, deployment, job_.bind(), directory, ProgramStreams::to_log(log_file(log)));
  }

  /// Runs the program; number 0 is the warm-up. Nothing: the program failed, and result_ says so.
  Result<std::optional<PlacedRun>> run_placement(const Deployment& deployment, bool mapped, std::size_t number) {
    const std::string name = number == 0 ? "warm-up" : fmt::format("{}", number);
    const std::string log = fmt::format("{}-{}.log", mapped ? "after" : "before", name);
    auto run = logged(run_once(launch_, deployment, mapped, log), commands_.run(), log);
    if (!run) return propagate(run);
    if (run->status == 0) {
      if (auto measured = measure_time(*run, commands_.file(log)); !measured) return propagate(measured);
      return *std::move(run);
    }
    set_failed(fmt::format("{} with the {}", number == 0 ? "the warm-up run" : "run " + name,
                           mapped ? "mapping" : "default placement"),
               run->status, commands_.file(log));
    result_.failed->mapped = mapped;
    return std::nullopt;
  }

  /// With --metric, the last time that the program printed.
  Result<void> measure_time(PlacedRun& run, const std::string& log) const {
    if (arguments_.metric.empty()) return {};
    auto output = read_file(log);
    if (!output) return propagate(output);
    const auto seconds = last_metric(output->view(), arguments_.metric);
    if (!seconds) {
      return fail(Code::bad_input, at(log), "no line of the program's output has a time that matches --metric",
                  "the first group of the expression must match a time such as 1.5, 1.5s or 12ms");
    }
    run.seconds = *seconds;
    return {};
  }

  /// The time from the start to the end of the launcher with a program that does nothing, the minimum of three runs
  /// with each placement: launchers start ranks faster or slower with a rankfile. Nothing if such a program cannot be
  /// run.
  std::optional<StartTimes> measure_start(const Deployment& deployment) const {
    LaunchCommand nothing = launch_;
    for (auto& program : nothing.programs) program.arguments = {"true"};
    StartTimes times{.before_seconds = max_double, .after_seconds = max_double};
    for (int round = 0; round < 3; ++round) {
      for (const bool mapped : {false, true}) {
        const auto run = run_once(nothing, deployment, mapped, "start.log");
        if (!run || run->status != 0) return std::nullopt;
        double& seconds = mapped ? times.after_seconds : times.before_seconds;
        seconds = std::min(seconds, run->seconds);
      }
    }
    return times;
  }

  Result<void> measure() {
    auto placed = logged(deployment(), commands_.run(), "run.log");
    if (!placed) return propagate(placed);
    // The first run of a placement is slower, because files are read from disk. The recording was the first run with
    // the default placement.
    print_progress("warm-up    once before the times count");
    for (const bool mapped : {false, true}) {
      if (!mapped && arguments_.profile.empty()) continue;
      auto run = run_placement(*placed, mapped, 0);
      if (!run) return propagate(run);
      if (!*run) return {};
    }
    TuneMeasurement measurement;
    if (arguments_.metric.empty()) measurement.start = measure_start(*placed);
    PairedComparison& comparison = measurement.comparison;
    const auto begin = std::chrono::steady_clock::now();
    comparison = compare_pairs({}, {}, arguments_.comparison);
    while (comparison.next_pairs > 0) {
      const std::size_t pairs = measurement.before_seconds.size();
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double expected =
          pairs == 0 ? 0 : elapsed / static_cast<double>(pairs) * static_cast<double>(comparison.next_pairs);
      measurement.out_of_time = expected > arguments_.max_seconds;
      if (measurement.out_of_time) break;
      for (std::size_t pair = pairs; pair < comparison.next_pairs; ++pair) {
        if (auto done = run_pair(*placed, pair, measurement); !done) return done;
        if (result_.failed) return {};
      }
      comparison = compare_pairs(measurement.before_seconds, measurement.after_seconds, arguments_.comparison);
    }
    result_.measurement = std::move(measurement);
    return {};
  }

  Result<void> run_pair(const Deployment& placed, std::size_t pair, TuneMeasurement& measurement) {
    for (const bool mapped : {after_runs_first(pair), !after_runs_first(pair)}) {
      auto run = run_placement(placed, mapped, pair + 1);
      if (!run) return propagate(run);
      if (!*run) return {};
      (mapped ? measurement.after_seconds : measurement.before_seconds).push_back((*run)->seconds);
      if (!mapped) continue;
      measurement.verified = measurement.verified && (*run)->verification.all();
      measurement.confirmed = (*run)->verification.confirmed;
    }
    print_progress(fmt::format("run {}  {} default placement, {} with the mapping", pair + 1,
                               format_seconds(measurement.before_seconds.back()),
                               format_seconds(measurement.after_seconds.back())));
    return {};
  }

  /// Writes the launcher's files. The value is the command to type: the user's own, with the placement added.
  Result<std::string> emit() const {
    auto placed = deployment();
    if (!placed) return propagate(placed);
    LaunchContext context = launch_context(commands_.launch_directory(), job_.bind());
    context.report = false;
    auto plan = plan_launch(launch_, *placed, context);
    if (!plan) return propagate(plan);
    auto directory = OutputDirectory::open(commands_.launch_directory(), existing(arguments_.force));
    if (!directory) return propagate(directory);
    if (auto done = write_launcher_files(plan->files, *directory); !done) return propagate(done);
    return plan->text();
  }

  static constexpr double max_double = std::numeric_limits<double>::max();
  const TuneArguments& arguments_;
  const LaunchCommand& launch_;
  OutputDirectory& directory_;
  TuneCommands commands_;
  JobMapping job_;
  bool quiet_;
  TuneResult result_;
};

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
    add_value(
        app,
        {"--metric", "REGEX",
         "compare a time that the program prints, instead of the time of the whole program: the first group of this "
         "regular expression, in the last line that matches",
         "measuring"},
        [this](std::string_view text) -> Result<void> {
          arguments_.metric = std::string(text);
          if (is_metric(arguments_.metric)) return {};
          return bad_value("--metric", text, "a regular expression with a group, such as 'time per step: (.*) s'");
        });
    add_switch(app, "--predict",
               "simulate both placements first, print the predicted speedup, and stop if there is none",
               arguments_.predict, "measuring");
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
    auto shape = job_shape(*launch);
    if (!shape) return propagate(shape);
    if (auto accepted = check_launch(*launch, launch_context("DIRECTORY", EmitOptions::Bind::core)); !accepted)
      return propagate(accepted);
    if (dry_run_) {
      print(TuneCommands(arguments_, *launch).text());
      return success;
    }
    auto output = open_output();
    if (!output) return propagate(output);
    if (arguments_.lab) {
      if (auto entered = enter_lab(); !entered) return propagate(entered);
    }
    Tuner tuner(arguments_, *launch, *shape, *output, session.json);
    auto result = tuner.tune();
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
    print(tuner.conclusion());
    if (reported) {
      print(fmt::format("report: {} (write it again with: {})\n", (directory / "report.html").string(),
                        command_text({"rankloom", "report", arguments_.output, "-o", "report.html"})));
    }
    return success;
  }

 private:
  static void add_count(CLI::App& app, const OptionText& text, const std::function<void(std::size_t)>& set) {
    add_value(app, text, [name = text.names, set](std::string_view value) -> Result<void> {
      const auto number = parse_number(value);
      if (!number || *number < 1 || *number > 1000 || *number != std::floor(*number))
        return bad_value(name, value, "a number from 1 to 1000");
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
