// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom simulate`: mappings one by one, several jobs at once, or the calibration of the platform.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/arguments/job_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/calibrate.hpp"
#include "rankloom/report/progress_bar.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

class SimulateVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_repeated(app,
                 {"MAPPING", "MAPPING", "mapping files, plain or JSON, or mappers of `rankloom list mappers` to run",
                  "input", "", false},
                 names_);
    problem_.describe(app, "-p,--profile", false);
    add_repeated(
        app,
        {"--job", "JOB",
         "a program that runs beside the others: PROFILE@MAPPING, PROFILE@nodes:0-3,8, PROFILE@MAPPING@START", "jobs"},
        job_texts_);
    add_text(app,
             {"--jobs", "FILE",
              "the same as a list in JSON: name, profile, mapping or nodes, start, iterations, compute", "jobs"},
             jobs_file_);
    add_switch(app, "--alone", "simulate each job also by itself, and say how much the others slow it down", alone_,
               "jobs");
    add_switch(app, "--calibrate", "compare messages between two cores of each level with the machine, and fit them",
               calibrate_, "calibration");
    add_text(app, {"-o,--output", "FILE", "with --calibrate: where what was found is written", "calibration"}, output_);
    need(app, "--output", "--calibrate");
    simulation_.describe_platform(app);
    simulation_.describe_replay(app);
    run_.describe(app);
  }

  Result<int> run(const Session& session) override {
    const ThreadLimit limit(run_.threads);
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    if (auto prepared = simulation_.prepare(); !prepared) return propagate(prepared);
    const int asked =
        (names_.empty() ? 0 : 1) + (job_texts_.empty() && jobs_file_.empty() ? 0 : 1) + (calibrate_ ? 1 : 0);
    if (asked != 1) {
      return fail(Code::usage, at("simulate"), asked == 0 ? "nothing to simulate is named" : "one question at a time",
                  "name mappings and --profile, or jobs with --job, or --calibrate");
    }
    auto answer = calibrate_ ? calibration(progress) : names_.empty() ? jobs(progress) : mappings(progress);
    if (!answer) return propagate(answer);
    progress.finish();
    if (session.json) {
      print_json(answer->json);
    } else {
      print(answer->text);
    }
    return success;
  }

 private:
  struct Answer {
    Json json;
    std::string text;
  };

  Result<Answer> mappings(Progress& progress) {
    if (problem_.profile.profile.empty())
      return fail(Code::usage, at("--profile"), "no program is named", "add --profile FILE, a trace, or gen:PATTERN");
    auto instance = problem_.load(progress, true);
    if (!instance) return propagate(instance);
    const Capacities room = instance->capacities.bounded_by_work(instance->topology, instance->graph.rank_count());
    auto replayed = simulation_.replayed(problem_.profile, *instance->profile, instance->format);
    if (!replayed) return propagate(replayed);
    std::vector<SimulationRequest> requests;
    for (const std::string& name : names_) {
      auto placement = named_placement(name, *instance, room, run_, progress);
      if (!placement) return propagate(placement);
      requests.push_back(simulation_.request(instance->topology));
      if (replayed->made) requests.back().eager = SynthesisedTrace::eager;
      requests.back().jobs.push_back(
          {.name = name, .traces = replayed->files, .core_of = std::move(*placement), .start = 0});
    }
    auto results = simulate(requests, simulation_.options, progress);
    if (!results) return propagate(results);
    Answer answer{
        .json = {{"ranks", instance->graph.rank_count()}, {"replayed", replayed->json()}, {"mappings", Json::array()}},
        .text = fmt::format("{} on {}: {}\n\n", counted(instance->graph.rank_count(), "rank"),
                            counted(instance->topology.core_count(), "core"), replayed->sentence())};
    double best = (*results)[0].seconds;
    for (const SimulationResult& result : *results) best = std::min(best, result.seconds);
    Table table({{"mapping"},
                 {"time", Table::Align::right},
                 {"first rank done", Table::Align::right},
                 {"", Table::Align::right}});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const SimulationResult& result = (*results)[i];
      const auto& ranks = result.jobs[0].rank_seconds;
      table.row({names_[i], format_seconds(result.seconds),
                 format_seconds(*std::min_element(ranks.begin(), ranks.end())),
                 result.seconds == best ? "best" : fmt::format("{:.1f} % longer", 100 * (result.seconds / best - 1))});
      answer.json["mappings"].push_back({{"name", names_[i]},
                                         {"seconds", result.seconds},
                                         {"rank_seconds", ranks},
                                         {"routes_checked", result.routes_checked},
                                         {"simulation_ms", result.wall_seconds * 1000}});
    }
    answer.text += table.text();
    return answer;
  }

  Result<std::vector<JobWords>> job_words() const {
    std::vector<JobWords> words;
    if (!jobs_file_.empty()) {
      auto read = read_jobs(jobs_file_);
      if (!read) return propagate(read);
      words = std::move(*read);
    }
    for (const std::string& text : job_texts_) {
      auto job = parse_job(text, words.size());
      if (!job) return propagate(job);
      words.push_back(std::move(*job));
    }
    return words;
  }

  /// What a job does; jobs of one profile share their files.
  Result<const Replayed*> replayed(const JobWords& job) {
    const std::uint32_t iterations = job.iterations.value_or(simulation_.synthesis.iterations);
    const std::tuple key(job.profile, iterations, job.compute.value_or(-1));
    if (const auto found = replayed_.find(key); found != replayed_.end()) return &found->second;
    ProfileArguments from = problem_.profile;
    from.profile = job.profile;
    auto imported = from.load();
    if (!imported) return propagate(imported);
    SimulationArguments how = simulation_;
    how.synthesis.iterations = iterations;
    if (job.compute) how.synthesis.work = job.compute;
    auto made = how.replayed(from, imported->profile, imported->format);
    if (!made) return propagate(made);
    return &replayed_.emplace(key, std::move(*made)).first->second;
  }

  Result<Answer> jobs(Progress& progress) {
    if (!problem_.topology.given())
      return fail(Code::usage, at("-t"), "no machine is named",
                  "add -t FILE, or a string such as -t \"mesh:4x4 core:8\"");
    if (!simulation_.trace.empty()) {
      return fail(Code::usage, at("--trace"), "jobs have traces of their own",
                  "name a trace in the place of the profile: --job app.trace@nodes:0-3");
    }
    auto topology = problem_.topology.load();
    if (!topology) return propagate(topology);
    auto words = job_words();
    if (!words) return propagate(words);
    std::vector<SimulationRequest> requests{simulation_.request(*topology)};
    bool all_made = true;
    for (const JobWords& job : *words) {
      progress.report("reading " + job.profile, -1);
      auto trace = replayed(job);
      if (!trace) return propagate(trace);
      auto cores = place_job(job, static_cast<std::uint32_t>((*trace)->files.size()), *topology);
      if (!cores) return propagate(cores);
      all_made = all_made && (*trace)->made;
      requests[0].jobs.push_back(
          {.name = job.name, .traces = (*trace)->files, .core_of = std::move(*cores), .start = job.start});
    }
    for (std::size_t j = 0; alone_ && j < words->size(); ++j) {
      requests.push_back(simulation_.request(*topology));
      requests.back().jobs.push_back(requests[0].jobs[j]);
      requests.back().jobs[0].start = 0;
    }
    for (SimulationRequest& request : requests)
      if (all_made) request.eager = SynthesisedTrace::eager;
    auto results = simulate(requests, simulation_.options, progress);
    if (!results) return propagate(results);
    return of_jobs(*topology, *words, requests[0], *results);
  }

  Answer of_jobs(const Topology& topology, const std::vector<JobWords>& words, const SimulationRequest& request,
                 const std::vector<SimulationResult>& results) const {
    Answer answer{.json = {{"seconds", results[0].seconds}, {"jobs", Json::array()}}, .text = {}};
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
    for (std::size_t j = 0; j < words.size(); ++j) {
      const JobTimes& times = results[0].jobs[j];
      std::set<Node> nodes;
      for (const Core core : request.jobs[j].core_of) nodes.insert(topology.node_of(core));
      std::vector<std::string> row{words[j].name,
                                   words[j].profile,
                                   fmt::format("{}", times.rank_seconds.size()),
                                   fmt::format("{}", nodes.size()),
                                   format_seconds(times.start),
                                   format_seconds(times.seconds)};
      Json json{{"name", words[j].name}, {"profile", words[j].profile}, {"ranks", times.rank_seconds.size()},
                {"nodes", nodes.size()}, {"start", times.start},        {"seconds", times.seconds}};
      if (alone_) {
        const double alone = results[j + 1].seconds;
        const double slowdown = alone > 0 ? times.seconds / alone : 1;
        row.push_back(format_seconds(alone));
        row.push_back(slowdown > 1.0005 ? fmt::format("{:.2f} times longer", slowdown) : "not slowed down");
        json["alone_seconds"] = alone;
        json["slowdown"] = slowdown;
      }
      table.row(std::move(row));
      answer.json["jobs"].push_back(std::move(json));
    }
    answer.text = table.text();
    return answer;
  }

  Result<Answer> calibration(Progress& progress) {
    if (!problem_.topology.given())
      return fail(Code::usage, at("-t"), "no machine is named",
                  "add -t FILE, or a string such as -t \"node:4=10 core:8=1\"");
    auto topology = problem_.topology.load();
    if (!topology) return propagate(topology);
    auto found = calibrate(*topology, simulation_.platform, simulation_.options, progress);
    if (!found) return propagate(found);
    Answer answer{.json = {{"rounds", found->rounds},
                           {"worst_deviation", found->worst()},
                           {"pairs", Json::array()},
                           {"levels", Json::array()}},
                  .text = {}};
    Table table({{"between"},
                 {"cores"},
                 {"machine", Table::Align::right},
                 {"", Table::Align::right},
                 {"simulated", Table::Align::right},
                 {"", Table::Align::right},
                 {"off", Table::Align::right}});
    const auto rate = [](double gap) { return gap > 0 ? format_bytes(1 / gap) + "/s" : std::string("unlimited"); };
    for (const CalibratedPair& pair : found->pairs) {
      const std::string& kind = topology->levels()[pair.level].kind;
      table.row({plural(kind), fmt::format("{} and {}", index(pair.from), index(pair.to)), rate(pair.wanted.gap),
                 format_seconds(pair.wanted.latency), rate(pair.fitted.gap), format_seconds(pair.fitted.latency),
                 fmt::format("{:.4f} %", 100 * pair.deviation)});
      const auto cost = [](const Cost& c) { return Json{{"seconds_per_byte", c.gap}, {"latency_seconds", c.latency}}; };
      answer.json["pairs"].push_back({{"level", kind},
                                      {"cores", {index(pair.from), index(pair.to)}},
                                      {"machine", cost(pair.wanted)},
                                      {"before", cost(pair.untouched)},
                                      {"simulated", cost(pair.fitted)},
                                      {"deviation", pair.deviation}});
    }
    for (std::size_t level = 0; level < found->factors.size(); ++level)
      answer.json["levels"].push_back({{"level", topology->levels()[level].kind},
                                       {"gap_factor", found->factors[level].gap},
                                       {"latency_factor", found->factors[level].latency}});
    if (!output_.empty()) {
      if (auto written = write_file(output_, to_line(answer.json)); !written) return propagate(written);
    }
    answer.text =
        table.text() + fmt::format("\nmessages of 1 byte and 1 MB are at most {:.4f} % off\n", 100 * found->worst());
    return answer;
  }

  std::vector<std::string> names_, job_texts_;
  std::string jobs_file_, output_;
  bool alone_ = false, calibrate_ = false;
  ProblemArguments problem_;
  RunArguments run_;
  SimulationArguments simulation_;
  std::map<std::tuple<std::string, std::uint32_t, double>, Replayed> replayed_;
};

}  // namespace

std::unique_ptr<Verb> make_simulate() {
  return std::make_unique<SimulateVerb>();
}

}  // namespace rankloom::app
