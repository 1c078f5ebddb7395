// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: `rankloom simulate`: compares mappings, runs several jobs at once, or calibrates the platform.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/evaluation/timeline_output.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/calibrate.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// A job of a simulation as the user describes it.
struct JobSpec {
  std::string name;
  std::string profile;    ///< A file of any format, or gen:PATTERN.
  std::string placement;  ///< A mapping file, or "nodes:0-3,8": the ranks in order on the cores of these nodes.
  double start = 0;       ///< Seconds.
  std::optional<std::uint32_t> iterations;
  std::optional<double> compute;  ///< Seconds of computation of a rank per round.
};

/// "0-3,8" → nodes 0, 1, 2, 3 and 8.
Result<std::vector<Node>> parse_nodes(const std::string& job, std::string_view text, const Topology& topology) {
  std::string error = "the list of nodes is empty";
  const auto numbers = parse_number_ranges(text, topology.node_count() - 1, &error);
  if (!numbers || numbers->empty()) {
    return fail(Code::usage, at(job), std::move(error),
                fmt::format("give node numbers from 0 to {}, such as nodes:0-3,8", topology.node_count() - 1));
  }
  std::vector<Node> nodes;
  for (const std::uint32_t number : *numbers) nodes.push_back(Node{number});
  return nodes;
}

Result<std::vector<Core>> place_on_nodes(const JobSpec& job, std::uint32_t ranks, std::span<const Node> nodes,
                                         const Topology& topology) {
  std::vector<Core> cores;
  for (const Node node : nodes) {
    const Core end = topology.first_core(topology.node_level(), index(node) + 1);
    for (Core core = topology.first_core(topology.node_level(), index(node)); core != end;
         core = Core{index(core) + 1}) {
      for (std::uint32_t i = 0; i < topology.capacity(core) && cores.size() < ranks; ++i) cores.push_back(core);
    }
  }
  if (cores.size() < ranks) {
    return fail(Code::infeasible, at(job.name),
                fmt::format("the job has {} ranks, but {} with {}", ranks, counted(nodes.size(), "node"),
                            counted(cores.size(), "slot")),
                "give the job more nodes");
  }
  return cores;
}

/// "PROFILE@PLACEMENT" or "PROFILE@PLACEMENT@START"
Result<JobSpec> parse_job(std::string_view text, std::size_t number) {
  const std::size_t first = text.find('@');
  const std::size_t second = first == std::string_view::npos ? first : text.find('@', first + 1);
  JobSpec job;
  job.profile = text.substr(0, first);
  if (first != std::string_view::npos) job.placement = text.substr(first + 1, second - first - 1);
  job.name = fmt::format("job{}", number);
  const auto start = second == std::string_view::npos ? 0.0 : parse_nanoseconds(text.substr(second + 1), 1e9);
  if (job.profile.empty() || job.placement.empty() || !start || *start < 0) {
    return fail(Code::usage, at("--job"), fmt::format("\"{}\" does not describe a job", text),
                "write PROFILE@MAPPING, PROFILE@nodes:0-3,8, or with a start time PROFILE@MAPPING@1.5s");
  }
  job.start = *start * 1e-9;
  return job;
}

/// [{"name": .., "profile": .., "mapping": FILE or "nodes": [..] or "0-3,8", "start": seconds, "iterations": N,
/// "compute": seconds}, ..]
Result<std::vector<JobSpec>> read_jobs(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto json = parse_json(*file);
  if (!json) return propagate(json);
  std::vector<JobSpec> jobs;
  const auto wrong = [&](std::string what) {
    return fail(Code::bad_input, at(path), std::move(what),
                "write a list: [{\"name\": \"a\", \"profile\": \"a.prof\", \"nodes\": [0, 1], \"start\": 0}, ..]");
  };
  if (!json->is_array() || json->empty()) return wrong("the file does not contain a list of jobs");
  for (const auto& entry : *json) {
    JobSpec job;
    job.name = fmt::format("job{}", jobs.size());
    if (!entry.is_object()) return wrong(fmt::format("{} is not an object", job.name));
    for (const auto& [key, value] : entry.items()) {
      if (key == "name" && value.is_string()) {
        job.name = value;
      } else if (key == "profile" && value.is_string()) {
        job.profile = value;
      } else if (key == "mapping" && value.is_string()) {
        job.placement = value;
      } else if (key == "nodes" && value.is_string()) {
        job.placement = "nodes:" + value.get<std::string>();
      } else if (key == "nodes" && value.is_array()) {
        for (const auto& node : value) {
          if (!node.is_number_unsigned()) return wrong(fmt::format("{}: an entry of nodes is not a number", job.name));
          job.placement += fmt::format("{}{}", job.placement.empty() ? "nodes:" : ",", node.get<std::uint64_t>());
        }
      } else if (key == "start" && value.is_number() && value >= 0) {
        job.start = value;
      } else if (key == "compute" && value.is_number() && value >= 0) {
        job.compute = value;
      } else if (key == "iterations" && value.is_number_unsigned() && value > 0 && value <= 1'000'000) {
        job.iterations = value;
      } else {
        return wrong(fmt::format("{}: unknown key \"{}\", or a value of the wrong type", job.name, key));
      }
    }
    if (job.profile.empty()) return wrong(fmt::format("{} has no profile", job.name));
    if (job.placement.empty()) return wrong(fmt::format("{} has neither a mapping nor nodes", job.name));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// The core of each rank.
Result<std::vector<Core>> place_job(const JobSpec& job, std::uint32_t ranks, const Topology& topology) {
  constexpr std::string_view prefix = "nodes:";
  if (job.placement.starts_with(prefix)) {
    auto nodes = parse_nodes(job.name, std::string_view(job.placement).substr(prefix.size()), topology);
    if (!nodes) return propagate(nodes);
    return place_on_nodes(job, ranks, *nodes, topology);
  }
  auto file = read_file(job.placement);
  if (!file) return propagate(file);
  auto mapping = read_mapping(*file);
  if (!mapping) return propagate(mapping);
  if (mapping->core_of.size() != ranks) {
    return fail(Code::bad_input, at(job.placement),
                fmt::format("the mapping has {} ranks, but the profile has {}", mapping->core_of.size(), ranks),
                "use a mapping of this program");
  }
  return std::move(mapping->core_of);
}

class SimulateVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_repeated(app,
                 {"MAPPING", "MAPPING", "mapping files, plain or JSON, or mappers of `rankloom list mappers` to run",
                  "input", "", false},
                 names_);
    problem_.describe(app, "-p,--profile", false);
    add_repeated(app,
                 {"--job", "JOB",
                  "a program that runs at the same time as the others: PROFILE@MAPPING, PROFILE@nodes:0-3,8, "
                  "PROFILE@MAPPING@START",
                  "jobs"},
                 job_texts_);
    add_text(app,
             {"--jobs", "FILE", "a JSON list of jobs with name, profile, mapping or nodes, start, iterations, compute",
              "jobs"},
             jobs_file_);
    add_switch(app, "--alone", "also simulate each job by itself, to show how much the others slow it down", alone_,
               "jobs");
    add_switch(app, "--calibrate", "fit the simulated platform to the costs of the machine, level by level", calibrate_,
               "calibration");
    add_text(app, {"-o,--output", "FILE", "with --calibrate: the calibration file to write", "calibration"}, output_);
    need(app, "--output", "--calibrate");
    add_switch(app, "--timeline",
               "also show computation, transfer and waiting of the ranks, and the critical path; `rankloom report` "
               "draws the output of --timeline --json",
               timeline_, "output");
    simulation_.describe_replay(app);
    run_.describe(app);
  }

  Result<int> run(const Session& session) override {
    width_ = session.width;
    const ThreadLimit limit(run_.threads);
    ProgressDisplay progress(stderr, session.progress);
    if (auto prepared = simulation_.prepare(); !prepared) return propagate(prepared);
    const int modes =
        (names_.empty() ? 0 : 1) + (job_texts_.empty() && jobs_file_.empty() ? 0 : 1) + (calibrate_ ? 1 : 0);
    if (modes != 1) {
      return fail(Code::usage, at("simulate"),
                  modes == 0 ? "nothing to simulate" : "mappings, jobs and --calibrate cannot be combined",
                  "name mappings and --profile, or jobs with --job, or use --calibrate");
    }
    if (timeline_ && names_.empty())
      return fail(Code::usage, at("--timeline"), "timelines need mappings", "name mappings and --profile");
    auto output = calibrate_       ? calibrate_platform(progress)
                  : names_.empty() ? simulate_jobs(progress)
                                   : simulate_mappings(progress);
    if (!output) return propagate(output);
    progress.finish();
    if (session.json) {
      print_json(output->json);
    } else {
      print(output->text);
    }
    return success;
  }

 private:
  struct Output {
    Json json;
    std::string text;
  };

  Result<Output> simulate_mappings(Progress& progress) {
    if (problem_.profile.profile.empty())
      return fail(Code::usage, at("--profile"), "the profile is missing",
                  "add --profile FILE (a profile or a trace) or --profile gen:PATTERN");
    auto instance = problem_.load(progress, true);
    if (!instance) return propagate(instance);
    run_.choose_model(problem_, *instance);
    std::vector<SimulationRequest> requests;
    for (const std::string& name : names_) {
      auto placement = given_placement(name, *instance, problem_.fit(), run_, progress);
      if (!placement) return propagate(placement);
      requests.push_back(simulation_.request(instance->topology));
      requests.back().timelines = timeline_;
      requests.back().jobs.push_back({.name = name, .traces = {}, .core_of = std::move(*placement), .start = 0});
    }
    auto sources = simulation_.set_traces(problem_.profile, *instance, requests);
    if (!sources) return propagate(sources);
    const ReplaySource& source = sources->front();
    auto results = simulate(requests, simulation_.options, progress);
    if (!results) return propagate(results);
    Output output{
        .json = {{"ranks", instance->graph.rank_count()}, {"replayed", source.json()}, {"mappings", Json::array()}},
        .text = fmt::format("{} on {}: {}\n\n", counted(instance->graph.rank_count(), "rank"),
                            counted_cores(instance->topology), source.summary())};
    double best = (*results)[0].seconds;
    for (const SimulationResult& result : *results) best = std::min(best, result.seconds);
    Table table({{"mapping"},
                 {"time", Table::Align::right},
                 {"first rank ends", Table::Align::right},
                 {"", Table::Align::right}});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const SimulationResult& result = (*results)[i];
      const auto& ranks = result.jobs[0].rank_seconds;
      table.row({names_[i], format_seconds(result.seconds),
                 format_seconds(*std::min_element(ranks.begin(), ranks.end())),
                 result.seconds == best ? "best" : excess(best, result.seconds, "longer")});
      output.json["mappings"].push_back({{"name", names_[i]},
                                         {"seconds", result.seconds},
                                         {"rank_seconds", ranks},
                                         {"routes_checked", result.routes_checked},
                                         {"simulation_ms", result.wall_seconds * 1000}});
    }
    output.text += table.text(width_);
    if (timeline_) {
      if (auto added = add_timelines(*results, *instance, output); !added) return propagate(added);
    }
    output.text += assumed_text(instance->topology);
    output.json["assumed"] = assumed_numbers(instance->topology);
    return output;
  }

  Result<void> add_timelines(const std::vector<SimulationResult>& results, const Instance& instance,
                             Output& output) const {
    output.json.update(problem_.json(instance, run_.model));
    std::vector<NamedTimeline> timelines;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto& timeline = results[i].jobs[0].timeline;
      if (!timeline) {
        return fail(Code::infeasible, at("--timeline"),
                    fmt::format("the run has more than {} actions", format_count(double{Timeline::max_actions})),
                    "simulate fewer --iterations, or without --timeline");
      }
      timelines.push_back({names_[i], &*timeline});
      output.json["mappings"][i]["timeline"] = timeline_json(*timeline, instance.topology);
    }
    output.text += timeline_text(timelines, instance.topology, width_);
    return {};
  }

  /// After a table.
  static std::string assumed_text(const Topology& topology) {
    const std::string line = assumed_line(topology);
    return line.empty() ? line : "\n" + line;
  }

  Result<std::vector<JobSpec>> job_specs() const {
    std::vector<JobSpec> specs;
    if (!jobs_file_.empty()) {
      auto read = read_jobs(jobs_file_);
      if (!read) return propagate(read);
      specs = std::move(*read);
    }
    for (const std::string& text : job_texts_) {
      auto job = parse_job(text, specs.size());
      if (!job) return propagate(job);
      specs.push_back(std::move(*job));
    }
    return specs;
  }

  /// The trace of a job. Jobs with the same profile and options share the files.
  Result<const ReplaySource*> trace_of(const JobSpec& job) {
    const std::uint32_t iterations = job.iterations.value_or(simulation_.synthesis.iterations);
    const std::tuple key(job.profile, iterations, job.compute.value_or(-1));
    if (const auto found = traces_.find(key); found != traces_.end()) return &found->second;
    ProfileArguments from = problem_.profile;
    from.profile = job.profile;
    auto imported = from.load();
    if (!imported) return propagate(imported);
    SimulationArguments arguments = simulation_;
    arguments.synthesis.iterations = iterations;
    if (job.compute) arguments.synthesis.work = job.compute;
    auto source = arguments.replay_source(from, imported->profile, imported->format);
    if (!source) return propagate(source);
    return &traces_.emplace(key, std::move(*source)).first->second;
  }

  Result<Output> simulate_jobs(Progress& progress) {
    if (!problem_.topology.given())
      return fail(Code::usage, at("-t"), "the machine is missing",
                  "add -t FILE, or a string such as -t \"mesh:4x4 core:8\"");
    if (!simulation_.trace.empty()) {
      return fail(Code::usage, at("--trace"), "--trace applies to mappings, not to jobs",
                  "name the trace of a job instead of its profile: --job app.trace@nodes:0-3");
    }
    auto topology = problem_.load_machine();
    if (!topology) return propagate(topology);
    auto specs = job_specs();
    if (!specs) return propagate(specs);
    std::vector<SimulationRequest> requests{simulation_.request(*topology)};
    bool all_synthesised = true;
    for (const JobSpec& job : *specs) {
      progress.report("reading " + job.profile, -1);
      auto trace = trace_of(job);
      if (!trace) return propagate(trace);
      auto cores = place_job(job, static_cast<std::uint32_t>((*trace)->files.size()), *topology);
      if (!cores) return propagate(cores);
      all_synthesised = all_synthesised && (*trace)->synthesised;
      requests[0].jobs.push_back(
          {.name = job.name, .traces = (*trace)->files, .core_of = std::move(*cores), .start = job.start});
    }
    for (std::size_t j = 0; alone_ && j < specs->size(); ++j) {
      requests.push_back(simulation_.request(*topology));
      requests.back().jobs.push_back(requests[0].jobs[j]);
      requests.back().jobs[0].start = 0;
    }
    for (SimulationRequest& request : requests)
      if (all_synthesised) request.eager = SyntheticTrace::eager;
    auto results = simulate(requests, simulation_.options, progress);
    if (!results) return propagate(results);
    return jobs_output(*topology, *specs, requests[0], *results);
  }

  Output jobs_output(const Topology& topology, const std::vector<JobSpec>& specs, const SimulationRequest& request,
                     const std::vector<SimulationResult>& results) const {
    Output output{.json = {{"seconds", results[0].seconds}, {"jobs", Json::array()}}, .text = {}};
    std::vector<Table::Column> columns{{"job"},
                                       {"program"},
                                       {"ranks", Table::Align::right},
                                       {"nodes", Table::Align::right},
                                       {"start", Table::Align::right},
                                       {"time", Table::Align::right}};
    if (alone_) {
      columns.push_back({"alone", Table::Align::right});
      columns.push_back({"", Table::Align::right});
    }
    Table table(columns);
    for (std::size_t j = 0; j < specs.size(); ++j) {
      const JobTimes& times = results[0].jobs[j];
      std::set<Node> nodes;
      for (const Core core : request.jobs[j].core_of) nodes.insert(topology.node_of(core));
      std::vector<std::string> row{specs[j].name,
                                   specs[j].profile,
                                   fmt::format("{}", times.rank_seconds.size()),
                                   fmt::format("{}", nodes.size()),
                                   format_seconds(times.start),
                                   format_seconds(times.seconds)};
      Json json{{"name", specs[j].name}, {"profile", specs[j].profile}, {"ranks", times.rank_seconds.size()},
                {"nodes", nodes.size()}, {"start", times.start},        {"seconds", times.seconds}};
      if (alone_) {
        const double alone = results[j + 1].seconds;
        const double slowdown = alone > 0 ? times.seconds / alone : 1;
        row.push_back(format_seconds(alone));
        row.push_back(slowdown > 1.0005 ? factor(slowdown) + " times as long" : "not slowed down");
        json["alone_seconds"] = alone;
        json["slowdown"] = slowdown;
      }
      table.row(std::move(row));
      output.json["jobs"].push_back(std::move(json));
    }
    output.text = table.text(width_) + assumed_text(topology);
    output.json["assumed"] = assumed_numbers(topology);
    return output;
  }

  Result<Output> calibrate_platform(Progress& progress) {
    if (!problem_.topology.given())
      return fail(Code::usage, at("-t"), "the machine is missing",
                  "add -t FILE, or a string such as -t \"node:4=10 core:8=1\"");
    auto topology = problem_.load_machine();
    if (!topology) return propagate(topology);
    auto calibration = calibrate(*topology, simulation_.options, progress);
    if (!calibration) return propagate(calibration);
    Output output{.json = {{"rounds", calibration->rounds},
                           {"worst_deviation", calibration->max_deviation()},
                           {"pairs", Json::array()},
                           {"levels", Json::array()}},
                  .text = {}};
    Table table({{"between"},
                 {"cores"},
                 {"machine", Table::Align::right},
                 {"", Table::Align::right},
                 {"simulated", Table::Align::right},
                 {"", Table::Align::right},
                 {"deviation", Table::Align::right}});
    const auto rate = [](double gap) { return gap > 0 ? format_bytes(1 / gap) + "/s" : std::string("unlimited"); };
    for (const CalibratedPair& pair : calibration->pairs) {
      const std::string& kind = topology->levels()[pair.level].kind;
      table.row({plural(kind), fmt::format("{} and {}", index(pair.from), index(pair.to)),
                 rate(pair.expected.inverse_bandwidth), format_seconds(pair.expected.latency),
                 rate(pair.calibrated.inverse_bandwidth), format_seconds(pair.calibrated.latency),
                 fmt::format("{:.4f} %", 100 * pair.deviation)});
      const auto cost = [](const Cost& c) {
        return Json{{"seconds_per_byte", c.inverse_bandwidth}, {"latency_seconds", c.latency}};
      };
      output.json["pairs"].push_back({{"level", kind},
                                      {"cores", {index(pair.from), index(pair.to)}},
                                      {"machine", cost(pair.expected)},
                                      {"before", cost(pair.uncalibrated)},
                                      {"simulated", cost(pair.calibrated)},
                                      {"deviation", pair.deviation}});
    }
    for (std::size_t level = 0; level < calibration->factors.size(); ++level)
      output.json["levels"].push_back({{"level", topology->levels()[level].kind},
                                       {"inverse_bandwidth_factor", calibration->factors[level].inverse_bandwidth},
                                       {"latency_factor", calibration->factors[level].latency}});
    if (!output_.empty()) {
      if (auto written = write_file(output_, to_line(output.json)); !written) return propagate(written);
    }
    output.text = table.text(width_) + fmt::format("\nmessages of 1 byte and of 1 MB deviate by at most {:.4f} %\n",
                                                   100 * calibration->max_deviation());
    return output;
  }

  std::vector<std::string> names_, job_texts_;
  std::string jobs_file_, output_;
  std::size_t width_ = default_width;
  bool alone_ = false, calibrate_ = false, timeline_ = false;
  ProblemArguments problem_;
  RunArguments run_;
  SimulationArguments simulation_;
  std::map<std::tuple<std::string, std::uint32_t, double>, ReplaySource> traces_;
};

}  // namespace

std::unique_ptr<Verb> make_simulate() {
  return std::make_unique<SimulateVerb>();
}

}  // namespace rankloom::app
