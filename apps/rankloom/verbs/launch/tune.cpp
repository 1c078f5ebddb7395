// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom tune`: records a program, discovers the machine, maps, measures the placements in turn,
// and prints the fastest command. Each step calls the function of another verb; --dry-run prints the equivalent
// commands.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <regex>
#include <span>

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

/// A mapping that is compared with the default placement.
struct Candidate {
  JobMapping job;
  LaunchCommand launch;  ///< How the user starts the program; with other hardware threads, Slurm reserves others.
  bool smt = false;      ///< With another number of hardware threads per core.
  Deployment deployment;
  TuneMeasurement measurement = {};

  /// The beginning of the names of its logs.
  const char* log() const { return smt ? "smt" : "after"; }
};

/// The number of threads of OpenMP that the user has chosen, in front of the launcher, in its options or in the
/// environment; 0: none.
std::uint32_t chosen_openmp_threads(const Argv& command) {
  const std::string name = "OMP_NUM_THREADS";
  const char* const in_environment = std::getenv(name.c_str());
  std::string value = in_environment != nullptr ? in_environment : "";
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (const std::size_t at = command[i].find(name + "="); at != std::string::npos)
      value = command[i].substr(at + name.size() + 1);
    if (command[i] == name && i + 1 < command.size()) value = command[i + 1];  // mpiexec -genv NAME VALUE
  }
  std::uint32_t threads = 0;
  std::from_chars(value.data(), value.data() + value.size(), threads);
  return threads;
}

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
    result_.higher_is_better = arguments_.higher_is_better;
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
    if (result_.reduces_cost() && result_.can_gain()) {
      if (auto added = add_mapping(); !added) return propagate(added);
    }
    if (arguments_.try_smt) {
      if (auto added = add_other_threads(); !added) return propagate(added);
    }
    if (candidates_.empty()) return result_;
    if (auto done = measure(); !done) return propagate(done);
    if (result_.gain()) {
      auto use = logged(emit(), commands_.emit(chosen().smt), "emit.log");
      if (use) result_.use = *use;
      result_.run = run_text(chosen());
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

  /// Simulates the recorded messages with the default placement, whose name it sets, and with the mapping.
  Result<void> predict(std::string& baseline) {
    SimulationArguments simulation;
    if (auto prepared = simulation.prepare(); !prepared) return prepared;
    const ProblemArguments arguments = job_.problem(true);
    auto instance = arguments.load(Progress::none(), true);
    if (!instance) return propagate(instance);
    baseline = instance->default_name;
    auto source = simulation.replay_source(arguments.profile, *instance->profile, instance->format);
    if (!source) return propagate(source);
    std::vector<SimulationRequest> requests;
    for (const std::string& name : {baseline, commands_.mapping()}) {
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

  Result<void> add_mapping() {
    print_progress(fmt::format("mapping    {} less communication cost than the default placement",
                               percent(100 * (1 - result_.cost / result_.cost_default))));
    if (arguments_.predict) {
      std::string baseline = commands_.expected_baseline();
      auto predicted = predict(baseline);
      if (auto done = logged(std::move(predicted), commands_.predict(baseline), "predict.log"); !done) return done;
      if (!result_.predicts_gain()) return {};
    }
    return add_candidate(job_, false);
  }

  Result<void> add_other_threads() {
    auto other = job_.with_other_threads_per_core(chosen_openmp_threads(arguments_.command));
    if (!other) {
      result_.smt_not_tried = other.error().what;
      return {};
    }
    const std::string log = "map-smt.log";
    auto mapped = logged(other->map(arguments_.mapper, commands_.mapping(true)),
                         commands_.map(other->oversubscribes(), other->slots(), true), log);
    if (!mapped) return propagate(mapped);
    return add_candidate(*std::move(other), true);
  }

  /// OpenMP has as many threads with a mapping as with the default placement, unless ranks use other hardware threads.
  Result<void> add_candidate(JobMapping job, bool smt) {
    auto deployment = logged(deployment_of(commands_.mapping(smt), commands_.machine(), {.threads = job.threads()}),
                             run_command(job, smt), "run.log");
    if (!deployment) return propagate(deployment);
    Candidate candidate{std::move(job), launch_, smt, *std::move(deployment)};
    if (smt) {
      candidate.measurement.threads_per_core = candidate.job.threads_per_core();
      const auto reserve = launch_.launcher->command_line->reserve;
      if (reserve != nullptr)
        reserve(candidate.launch.programs.front(),
                static_cast<std::uint32_t>(candidate.deployment.slot(Rank{0}).size()));
    }
    const auto plan = plan_launch(candidate.launch, candidate.deployment,
                                  launch_context(commands_.launch_directory(smt), job_.bind()));
    if (plan && !plan->replaced.empty()) {
      print_progress(fmt::format("options    {}", plan->replacements()));
      result_.replaced = plan->replaced;
    }
    candidates_.push_back(std::move(candidate));
    return {};
  }

  /// The equivalent of a run with a candidate.
  Argv run_command(const JobMapping& job, bool smt) const {
    return smt ? commands_.run_smt(job.slots(), arguments_.command) : commands_.run();
  }

  /// For the user.
  std::string run_text(const Candidate& candidate) const {
    if (candidate.smt) return command_text(commands_.run_smt(candidate.job.slots(), candidate.launch.argv()));
    return fmt::format("rankloom run {} -t {}{} -- {}", shell_quote(commands_.mapping()),
                       shell_quote(commands_.machine()), job_.bind() == EmitOptions::Bind::none ? " --bind none" : "",
                       result_.command);
  }

  const Candidate& chosen() const {
    return *std::find_if(candidates_.begin(), candidates_.end(), [this](const Candidate& candidate) {
      return candidate.measurement.threads_per_core == result_.measurement->threads_per_core;
    });
  }

  /// The user's command as it is, except that every rank reports where it runs, as with a mapping: both placements are
  /// launched and timed by the same code.
  Result<LaunchPlan> plan_default(const LaunchCommand& launch, const std::string& directory) const {
    const LaunchContext context = launch_context(directory, job_.bind());
    auto plan = plan_unchanged(launch, context);
    if (plan) plan->environment = launcher_variables(launch, context);
    return plan;
  }

  /// nullptr: the default placement.
  Result<PlacedRun> run_once(const Candidate* candidate, const LaunchCommand& launch, const std::string& log) const {
    RunDirectory directory;
    const std::string name =
        candidate != nullptr ? commands_.launch_directory(candidate->smt) : commands_.default_directory();
    if (auto created = directory.create(name, existing(arguments_.force)); !created) return propagate(created);
    const Deployment& deployment = (candidate != nullptr ? *candidate : candidates_.front()).deployment;
    auto plan = candidate != nullptr ? plan_launch(launch, deployment, launch_context(directory.path(), job_.bind()))
                                     : plan_default(launch, directory.path());
    if (!plan) return propagate(plan);
    return run_placed(*plan, deployment, job_.bind(), directory, ProgramStreams::to_log(log_file(log)));
  }

  /// Runs the program with a candidate, or with the default placement (nullptr); number 0 is the warm-up. Nothing: the
  /// program failed, and result_ says so.
  Result<std::optional<PlacedRun>> run_placement(const Candidate* candidate, std::size_t number) {
    const std::string name = number == 0 ? "warm-up" : fmt::format("{}", number);
    const std::string log = fmt::format("{}-{}.log", candidate != nullptr ? candidate->log() : "before", name);
    auto run = logged(run_once(candidate, candidate != nullptr ? candidate->launch : launch_, log),
                      candidate != nullptr ? run_command(candidate->job, candidate->smt) : commands_.run(), log);
    if (!run) return propagate(run);
    if (run->status == 0) {
      if (auto measured = measure_time(*run, commands_.file(log)); !measured) return propagate(measured);
      return *std::move(run);
    }
    set_failed(fmt::format("{} with {}", number == 0 ? "the warm-up run" : "run " + name,
                           candidate != nullptr ? candidate->measurement.placement() : "the default placement"),
               run->status, commands_.file(log));
    result_.failed->mapped = candidate != nullptr;
    return std::nullopt;
  }

  /// With --metric, the last time that the program printed, or the time of one unit of work at the last rate.
  Result<void> measure_time(PlacedRun& run, const std::string& log) {
    if (arguments_.metric.empty()) return {};
    auto output = read_file(log);
    if (!output) return propagate(output);
    std::optional<double> seconds;
    if (!arguments_.higher_is_better) {
      seconds = last_metric(output->view(), arguments_.metric);
    } else if (const auto rate = last_rate(output->view(), arguments_.metric)) {
      if (result_.unit.empty()) result_.unit = rate->unit;
      seconds = 1 / rate->in(result_.unit);
    }
    if (!seconds) {
      return fail(Code::bad_input, at(log),
                  fmt::format("no line of the program's output has a {} that matches --metric",
                              arguments_.higher_is_better ? "rate" : "time"),
                  arguments_.higher_is_better
                      ? "the first group of the expression must match a rate such as 1.5 or 12 GB/s"
                      : "the first group of the expression must match a time such as 1.5, 1.5s or 12ms");
    }
    run.seconds = *seconds;
    return {};
  }

  /// The time from the start to the end of the launcher with a program that does nothing, the minimum of three runs
  /// with each placement: launchers start ranks faster or slower with a rankfile. Nothing if such a program cannot be
  /// run.
  void measure_start() {
    const auto start_time = [this](const Candidate* candidate) -> std::optional<double> {
      LaunchCommand nothing = candidate != nullptr ? candidate->launch : launch_;
      for (auto& program : nothing.programs) program.arguments = {"true"};
      const auto run = run_once(candidate, nothing, "start.log");
      return run && run->status == 0 ? std::optional(run->seconds) : std::nullopt;
    };
    double before = max_double;
    std::vector<double> after(candidates_.size(), max_double);
    for (int round = 0; round < 3; ++round) {
      const auto seconds = start_time(nullptr);
      if (!seconds) return;
      before = std::min(before, *seconds);
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const auto with_mapping = start_time(&candidates_[i]);
        if (!with_mapping) return;
        after[i] = std::min(after[i], *with_mapping);
      }
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      candidates_[i].measurement.start = StartTimes{.before_seconds = before, .after_seconds = after[i]};
  }

  /// The first run of a placement is slower, because files are read from disk. The recording was the first run with the
  /// default placement. A launcher may refuse other hardware threads: then they are not compared.
  Result<void> warm_up() {
    print_progress("warm-up    once before the times count");
    if (!arguments_.profile.empty()) {
      auto run = run_placement(nullptr, 0);
      if (!run) return propagate(run);
      if (!*run) return {};
    }
    for (std::size_t i = 0; i < candidates_.size();) {
      auto run = run_placement(&candidates_[i], 0);
      if (!run) return propagate(run);
      if (!*run && !candidates_[i].smt) return {};
      if (*run) {
        ++i;
        continue;
      }
      result_.smt_not_tried =
          fmt::format("the program exited with status {} with {}; its output is in {}", result_.failed->status,
                      candidates_[i].measurement.placement(), result_.failed->log);
      result_.failed.reset();
      candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return {};
  }

  /// A candidate runs until its comparison with the default placement is over. The probability of a false claim holds
  /// for all comparisons together.
  Result<void> measure() {
    if (auto done = warm_up(); !done) return done;
    if (result_.failed || candidates_.empty()) return {};
    if (arguments_.metric.empty()) measure_start();
    const ComparisonOptions options = arguments_.comparison.for_one_of(candidates_.size());
    for (Candidate& candidate : candidates_) candidate.measurement.comparison = compare_pairs({}, {}, options);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Candidate*> running;
    for (std::size_t rounds = 0;;) {
      running.clear();
      for (Candidate& candidate : candidates_)
        if (candidate.measurement.comparison.next_pairs > 0) running.push_back(&candidate);
      if (running.empty()) break;
      const std::size_t next = running.front()->measurement.comparison.next_pairs;
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double expected = rounds == 0 ? 0 : elapsed / static_cast<double>(rounds) * static_cast<double>(next);
      if (expected > arguments_.max_seconds) {
        for (Candidate* const candidate : running) candidate->measurement.out_of_time = true;
        break;
      }
      for (; rounds < next; ++rounds) {
        if (auto done = run_round(rounds, running); !done) return done;
        if (result_.failed) return {};
      }
      for (Candidate* const candidate : running) {
        TuneMeasurement& measurement = candidate->measurement;
        measurement.comparison = compare_pairs(measurement.before_seconds, measurement.after_seconds, options);
      }
    }
    std::vector<TuneMeasurement> measurements;
    for (const Candidate& candidate : candidates_) measurements.push_back(candidate.measurement);
    result_.choose(std::move(measurements));
    return {};
  }

  /// One run with each placement.
  Result<void> run_round(std::size_t round, std::span<Candidate* const> running) {
    double before_seconds = 0;
    for (const std::size_t variant : run_order(round, 1 + running.size())) {
      Candidate* const candidate = variant == 0 ? nullptr : running[variant - 1];
      auto run = run_placement(candidate, round + 1);
      if (!run) return propagate(run);
      if (!*run) return {};
      if (candidate == nullptr) {
        before_seconds = (*run)->seconds;
        continue;
      }
      TuneMeasurement& measurement = candidate->measurement;
      measurement.after_seconds.push_back((*run)->seconds);
      measurement.verified = measurement.verified && (*run)->verification.all();
      measurement.confirmed = (*run)->verification.confirmed;
    }
    std::string text = fmt::format("run {}  {} default placement", round + 1, result_.measured_text(before_seconds));
    for (Candidate* const candidate : running) {
      TuneMeasurement& measurement = candidate->measurement;
      measurement.before_seconds.push_back(before_seconds);
      text +=
          fmt::format(", {} with {}", result_.measured_text(measurement.after_seconds.back()), measurement.placement());
    }
    print_progress(text);
    return {};
  }

  /// Writes the launcher's files. The value is the command to type: the user's own, with the placement added.
  Result<std::string> emit() const {
    const Candidate& candidate = chosen();
    const std::string name = commands_.launch_directory(candidate.smt);
    LaunchContext context = launch_context(name, job_.bind());
    context.report = false;
    auto plan = plan_launch(candidate.launch, candidate.deployment, context);
    if (!plan) return propagate(plan);
    auto directory = OutputDirectory::open(name, existing(arguments_.force));
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
  std::vector<Candidate> candidates_;
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
    print(result->conclusion());
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
