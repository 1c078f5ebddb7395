// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: the steps from the recording to the launcher's files.
#include "apps/rankloom/verbs/launch/tune/tuner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/help/doctor.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verbs/evaluation/report.hpp"
#include "apps/rankloom/verbs/machine/topo_discover.hpp"
#include "apps/rankloom/verbs/machine/topo_probe.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom::app {

namespace {

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

}  // namespace

Result<TuneResult> Tuner::tune() {
  result_.command = command_text(arguments_.command);
  result_.directory = arguments_.output;
  result_.profile = arguments_.profile;
  result_.topology = arguments_.topology;
  result_.metric = arguments_.metric;
  result_.higher_is_better = arguments_.higher_is_better;
  logs_.remove_earlier();
  logs_.append("doctor.log", to_text(examine_environment(), default_width));
  if (arguments_.profile.empty()) {
    if (auto done = record(); !done) return propagate(done);
    if (result_.failed) return result_;
  }
  if (arguments_.topology.empty()) {
    if (auto done = logs_.logged(discover(), commands_.discover(), "machine.log"); !done) return propagate(done);
  }
  if (auto done = logs_.logged(summarise_profile(), commands_.show(), "show.log"); !done) return propagate(done);
  if (auto done = logs_.logged(fit(), {"rankloom", "topo", "show", commands_.machine(), "--json"}, "topo.log"); !done)
    return propagate(done);
  if (auto done = logs_.logged(map(), commands_.map(job_.oversubscribes(), job_.slots()), "map.log"); !done)
    return propagate(done);
  const bool several = arguments_.candidates > 1;
  if (several && result_.can_gain()) {
    if (auto done = logs_.logged(find_candidates(), commands_.candidates(job_.oversubscribes(), job_.slots()),
                                 "candidates.log");
        !done)
      return propagate(done);
  }
  if ((several ? !mappings_.empty() : result_.reduces_cost()) && result_.can_gain()) {
    if (auto added = add_mapping(); !added) return propagate(added);
    if (result_.failed) return result_;
  }
  if (arguments_.try_smt) {
    if (auto added = add_other_threads(); !added) return propagate(added);
  }
  if (candidates_.empty()) return result_;
  PlacementMeasurement measurement(arguments_, launch_, commands_, logs_, job_.bind(), candidates_, result_);
  if (auto done = measurement.measure(arguments_.max_seconds - result_.candidate_seconds); !done)
    return propagate(done);
  if (result_.gain()) {
    auto use = logs_.logged(emit(), commands_.emit(chosen().smt), "emit.log");
    if (use) result_.use = *use;
    result_.run = run_text(chosen());
  }
  return result_;
}

bool Tuner::write_page() const {
  const auto write = [&]() -> Result<void> {
    ReportArguments report;
    report.results = {arguments_.output};
    auto loaded = report.load(Progress::none());
    if (!loaded) return propagate(loaded);
    return write_report(*loaded, commands_.file("report.html"));
  };
  return logs_.logged(write(), commands_.report(), "report.log").has_value();
}

Result<void> Tuner::record() {
  logs_.print_progress(fmt::format("recording  {}", command_text(arguments_.command)));
  logs_.begin("recording");
  const std::string log = logs_.path("record.log");
  RecordArguments record;
  record.command = arguments_.command;
  record.output = commands_.file("app.prof");
  record.streams = ProgramStreams::to_log(log);
  auto recorded = record_program(record);
  if (!recorded) return propagate(logs_.logged(std::move(recorded), commands_.record(), "record.log"));
  if (recorded->status != 0) {
    result_.failed = failed_run("the recording run", recorded->status, log);
    return {};
  }
  if (recorded->error) {
    return fail(Code::environment, at("tune"), recorded->error->what,
                fmt::format("look into {}; {}", log, recorded->error->hint));
  }
  return {};
}

Result<void> Tuner::discover() const {
  logs_.print_progress(arguments_.probe ? "machine    measuring it" : "machine    discovering its hosts");
  logs_.begin(arguments_.probe ? "measuring the machine" : "discovering the machine");
  std::string other_output;
  const auto on_line = [&](std::string_view line) { other_output += fmt::format("{}\n", line); };
  auto machine = arguments_.probe ? probe(on_line) : discover_hosts(on_line);
  if (!other_output.empty()) logs_.append("machine.log", other_output);
  if (!machine) return propagate(machine);
  return write_file(commands_.machine(), write_machine_json(*machine));
}

Result<MachineSpec> Tuner::discover_hosts(const std::function<void(std::string_view)>& on_line) const {
  DiscoverArguments discover;
  discover.launcher = commands_.launcher();
  discover.other_output = on_line;
  discover.error_log = logs_.path("machine.log");
  auto machine = discover_machine(discover);
  if (!machine) return machine;
  auto topology = Topology::build(std::move(*machine));
  if (!topology) return propagate(topology);
  return topology->spec();
}

Result<MachineSpec> Tuner::probe(const std::function<void(std::string_view)>& on_line) const {
  ProbeArguments probe;
  probe.launcher = commands_.launcher();
  probe.other_output = on_line;
  probe.error_log = logs_.path("machine.log");
  auto probed = probe_machine(probe);
  if (!probed) return propagate(probed);
  auto topology = Topology::build(std::move(probed->machine));
  if (!topology) return propagate(topology);
  return topology->spec();
}

Result<void> Tuner::summarise_profile() {
  logs_.begin("mapping");
  auto summary = job_.summarise();
  if (!summary) return propagate(summary);
  const double point_to_point = summary->between_ranks.bytes, collectives = summary->collectives.bytes;
  result_.ranks = summary->ranks;
  result_.collectives_share = point_to_point + collectives > 0 ? collectives / (point_to_point + collectives) : 0;
  if (summary->time) result_.share_in_mpi = summary->time->share();
  return {};
}

Result<void> Tuner::fit() {
  if (auto fitted = job_.fit(); !fitted) return fitted;
  result_.cores = job_.cores();
  result_.nodes = job_.nodes();
  if (!job_.threads_remark().empty()) logs_.print_progress("threads    " + job_.threads_remark());
  return {};
}

Result<void> Tuner::map() {
  auto mapped = job_.map(arguments_.mapper, commands_.mapping());
  if (!mapped) return propagate(mapped);
  result_.mapper = mapped->mapper;
  result_.cost = mapped->cost;
  result_.cost_default = mapped->cost_default;
  mapped_ = *std::move(mapped);
  return {};
}

Result<void> Tuner::find_candidates() {
  auto found = job_.candidates(arguments_.mapper, *mapped_);
  if (!found) return propagate(found);
  const auto by_default = std::ranges::find_if(*found, &CandidateMapping::is_default);
  for (CandidateMapping& candidate : *found) {
    if (mappings_.size() == arguments_.candidates) break;
    if (is_reduction(by_default->cost, candidate.cost) ||
        is_reduction(by_default->predicted_seconds, candidate.predicted_seconds))
      mappings_.push_back(candidate);
  }
  return mappings_.empty() ? Result<void>() : keep(mappings_.front());
}

Result<void> Tuner::select_fastest() {
  std::vector<Candidate> candidates;
  for (const CandidateMapping& mapping : mappings_) {
    const std::size_t number = candidates.size() + 1;
    const std::string file = commands_.file(TuneCommands::candidate_name(number));
    if (auto written = job_.write(mapping.mapping, file); !written) return written;
    auto candidate = make_candidate(file, job_, false);
    if (!candidate) return propagate(candidate);
    candidate->number = number;
    candidates.push_back(*std::move(candidate));
    result_.candidates.push_back({.goal = mapping.goal,
                                  .name = mapping.name(),
                                  .nodes = mapping.nodes,
                                  .predicted_seconds = mapping.predicted_seconds});
  }
  PlacementMeasurement measurement(arguments_, launch_, commands_, logs_, job_.bind(), candidates, result_);
  // The other half of the time is for the comparison with the default placement.
  auto fastest = measurement.find_fastest(arguments_.max_seconds / 2);
  if (!fastest) return propagate(fastest);
  return *fastest ? keep(mappings_[**fastest]) : Result<void>();
}

Result<void> Tuner::keep(const CandidateMapping& candidate) {
  result_.cost = candidate.cost;
  return job_.write(candidate.mapping, commands_.mapping());
}

Result<void> Tuner::predict(std::string& baseline) {
  logs_.begin("simulating");
  SimulationArguments simulation;
  if (auto prepared = simulation.prepare(); !prepared) return prepared;
  const ProblemArguments arguments = mappings_.empty() ? job_.problem(true) : job_.problem_on_any_nodes(true);
  auto instance = arguments.load(Progress::none(), true);
  if (!instance) return propagate(instance);
  baseline = instance->default_name;
  std::vector<std::vector<Core>> placements;
  for (const std::string& name : {baseline, commands_.mapping()}) {
    auto placement = named_placement(name, *instance, instance->capacities, {}, Progress::none());
    if (!placement) return propagate(placement);
    placements.push_back(*std::move(placement));
  }
  const std::array<std::span<const Core>, 2> both{placements[0], placements[1]};
  auto simulated = simulation.simulate_placements(arguments.profile, *instance, both, Progress::none());
  if (!simulated) return propagate(simulated);
  result_.prediction = {(*simulated)[0], (*simulated)[1]};
  logs_.print_progress(
      fmt::format("predicted  {:.2f} times faster: {} default placement, {} with the mapping, in a simulation",
                  result_.prediction->speedup(), format_seconds(result_.prediction->before_seconds),
                  format_seconds(result_.prediction->after_seconds)));
  return {};
}

Result<void> Tuner::add_mapping() {
  if (mappings_.empty()) {
    logs_.print_progress(fmt::format("mapping    {} less predicted communication time than the default placement",
                                     percent(100 * (1 - result_.cost / result_.cost_default))));
  } else {
    logs_.print_progress(fmt::format("mapping    {}; the shortest predicted time has {}",
                                     counted(mappings_.size(), "candidate"), mappings_.front().name()));
  }
  if (arguments_.predict) {
    std::string baseline = commands_.expected_baseline();
    auto predicted = predict(baseline);
    if (auto done = logs_.logged(std::move(predicted), commands_.predict(baseline), "predict.log"); !done) return done;
    if (!result_.predicts_gain()) return {};
  }
  if (mappings_.size() > 1) {
    if (auto done = select_fastest(); !done || result_.failed) return done;
  }
  return add_candidate(job_, false);
}

Result<void> Tuner::add_other_threads() {
  auto other = job_.with_other_threads_per_core(chosen_openmp_threads(arguments_.command));
  if (!other) {
    result_.smt_not_tried = other.error().what;
    return {};
  }
  const std::string log = "map-smt.log";
  auto mapped = logs_.logged(other->map(arguments_.mapper, commands_.mapping(true)),
                             commands_.map(other->oversubscribes(), other->slots(), true), log);
  if (!mapped) return propagate(mapped);
  return add_candidate(*std::move(other), true);
}

Result<Candidate> Tuner::make_candidate(const std::string& mapping, JobMapping job, bool smt) const {
  auto deployment = logs_.logged(deployment_of(mapping, commands_.machine(), {.threads = job.threads()}),
                                 commands_.run(job.slots(), smt), "run.log");
  if (!deployment) return propagate(deployment);
  Candidate candidate{.job = std::move(job), .launch = launch_, .smt = smt, .deployment = *std::move(deployment)};
  if (smt) {
    candidate.measurement.threads_per_core = candidate.job.threads_per_core();
    const auto reserve = launch_.launcher->command_line->reserve;
    if (reserve != nullptr)
      reserve(candidate.launch.programs.front(), static_cast<std::uint32_t>(candidate.deployment.slot(Rank{0}).size()));
  }
  return candidate;
}

Result<void> Tuner::add_candidate(JobMapping job, bool smt) {
  auto candidate = make_candidate(commands_.mapping(smt), std::move(job), smt);
  if (!candidate) return propagate(candidate);
  const auto plan = plan_launch(candidate->launch, candidate->deployment,
                                launch_context(commands_.launch_directory(smt), job_.bind()));
  if (plan && !plan->replaced.empty()) {
    logs_.print_progress(fmt::format("options    {}", plan->replacements()));
    result_.replaced = plan->replaced;
  }
  candidates_.push_back(*std::move(candidate));
  return {};
}

std::string Tuner::run_text(const Candidate& candidate) const {
  if (candidate.smt) return command_text(commands_.run_smt(candidate.job.slots(), candidate.launch.argv()));
  return fmt::format("rankloom run {} -t {}{} -- {}", shell_quote(commands_.mapping()),
                     shell_quote(commands_.machine()), job_.bind() == EmitOptions::Bind::none ? " --bind none" : "",
                     result_.command);
}

const Candidate& Tuner::chosen() const {
  return *std::find_if(candidates_.begin(), candidates_.end(), [this](const Candidate& candidate) {
    return candidate.measurement.threads_per_core == result_.measurement->threads_per_core;
  });
}

Result<std::string> Tuner::emit() const {
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

}  // namespace rankloom::app
