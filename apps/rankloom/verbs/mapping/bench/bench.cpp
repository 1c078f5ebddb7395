// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: `rankloom bench`: runs mappers on many instances with many seeds, one process per run.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/arguments/external_mapper.hpp"
#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/mapping/bench/bench_result.hpp"
#include "apps/rankloom/verbs/mapping/bench/plan.hpp"
#include "apps/rankloom/verbs/mapping/bench/row_journal.hpp"
#include "apps/rankloom/verbs/mapping/bench/runner.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/text/split.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/report/terminal/progress_display.hpp"

namespace rankloom::app {

namespace {

constexpr const char *rows_file = "rows.jsonl", *plan_file = "experiment.json";
constexpr int some_runs_failed = static_cast<int>(Code::infeasible);

/// Fails for a wrong pattern and for a file that cannot be opened. Does not read the file, which may be large.
Result<void> check_graph(const std::string& graph) {
  if (graph.starts_with("gen:")) {
    auto pattern = read_pattern(std::string_view(graph).substr(4));
    if (!pattern) return propagate(pattern);
    return {};
  }
  const int file = ::open(graph.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail(Code::bad_input, at(graph), fmt::format("cannot be opened: {}", std::strerror(errno)),
                "check the path; patterns begin with gen:, sets of instances with pack:");
  }
  ::close(file);
  return {};
}

class BenchVerb : public Verb {
 public:
  BenchVerb() { run_.threads = 1; }

  void describe(CLI::App& app) override {
    add_repeated(app,
                 {"GRAPH", "PROFILE",
                  "communication patterns: files in any format of `rankloom list formats`, gen:PATTERN, or a set of "
                  "instances with their machines: pack:meshes, pack:networks, pack:npb",
                  "input", "", true},
                 graphs_);
    add_repeated(app,
                 {"-t,--topology", "TOPOLOGY",
                  "a machine: a file, or a string such as \"node:6=3.7 core:16=1\"; may be repeated", "input"},
                 machines_);
    add_repeated(
        app,
        {"-a,--mapper", "MAPPER",
         "a mapper, or several separated by commas; a program, exec:COMMAND; a mapping file, file:FILE; may be "
         "repeated; by default auto:effort=fast, metis and scotch",
         "run"},
        lists_);
    OptionList list;
    list.count("seeds", seeds_, "how often each mapper runs on each instance, with the seeds --seed, --seed + 1, ..", 1,
               1'000'000);
    list.count("jobs", jobs_, "how many runs at the same time; more than 1 disturbs their times", 1, 4096);
    for (const Option& option : list.all()) add_listed(app, option, "run", option.set);
    add_text(app,
             {"--efforts", "EFFORT,..", "run the mapper auto with each of these efforts: fast,balanced,best", "run"},
             efforts_);
    add_text(app,
             {"--budgets", "TIME,..",
              "run every mapper with each of these time limits, for its convergence over time: 10ms,100ms,1s", "run"},
             budgets_);
    run_.describe(app);
    exclude(app, "--budgets", "--budget");
    external_.describe(app);
    add_switch(app, "--retry-failed", "run again what failed earlier in the same directory", retry_failed_, "run");
    add_text(app, {"--baseline", "MAPPER", "the mapper that ratios refer to; by default the first", "output"},
             baseline_);
    add_text(app, {"-o,--output", "DIRECTORY", "the directory for the results", "output", output_}, output_);
    add_force(app, force_, "replace files that rankloom did not write, and the results of another experiment");
  }

  Result<int> run(const Session& session) override {
    auto plan = make_plan();
    if (!plan) return propagate(plan);
    auto directory = open_directory(*plan);
    if (!directory) return propagate(directory);
    auto journal = RowJournal::open(directory->file(rows_file));
    if (!journal) return propagate(journal);
    ProgressDisplay progress(stderr, session.progress);
    if (auto done = run_missing(*plan, *journal, progress); !done) return propagate(done);
    progress.finish();
    return deliver(session, *plan, *journal, *directory);
  }

 private:
  Result<BenchPlan> make_plan() {
    BenchPlan plan;
    plan.first_seed = run_.seed;
    plan.seeds = seeds_;
    plan.settings = {.model = run_.model_is_given ? std::string(info(run_.model).name) : std::string(),
                     .threads = run_.threads,
                     .budget = run_.budget,
                     .time_limit = external_.time_limit};
    if (std::find(graphs_.begin(), graphs_.end(), "-") != graphs_.end())
      return fail(Code::usage, at("-"), "a graph that is read several times cannot be standard input", "name a file");
    if (!machines_.empty() && std::all_of(graphs_.begin(), graphs_.end(), is_pack))
      return fail(Code::usage, at("-t"), "a set of instances has its own machines", "leave out -t");
    auto instances = bench_instances(graphs_, machines_, plan.settings.model);
    if (!instances) return propagate(instances);
    plan.instances = *std::move(instances);
    if (auto inputs = check_inputs(plan.instances); !inputs) return propagate(inputs);
    if (const auto model = find_cost_model(plan.settings.model); model && info(*model).larger_is_better) {
      return fail(Code::usage, at("--model"),
                  fmt::format("ratios of {} say nothing: larger is better", info(*model).name),
                  "choose a model in which lower is better");
    }
    auto budgets = read_budgets(budgets_);
    if (!budgets) return propagate(budgets);
    plan.budgets = *std::move(budgets);
    auto mappers = choose_mappers();
    if (!mappers) return propagate(mappers);
    plan.mappers = *std::move(mappers);
    return plan;
  }

  /// Finds wrong names before the first run, not in the rows.
  static Result<void> check_inputs(const std::vector<BenchInstance>& instances) {
    std::set<std::string> checked;
    for (const BenchInstance& instance : instances) {
      if (checked.insert("graph " + instance.graph).second) {
        if (auto found = check_graph(instance.graph); !found) return found;
      }
      if (instance.machine.empty() || !checked.insert("machine " + instance.machine).second) continue;
      if (auto machine = load_topology(instance.machine); !machine) return propagate(machine);
    }
    return {};
  }

  Result<std::vector<std::string>> choose_mappers() {
    std::vector<std::string> specs;
    for (const std::string& list : lists_)
      for (std::string& spec : split_mappers(list)) specs.push_back(std::move(spec));
    if (specs.empty() && efforts_.empty()) specs.emplace_back("auto:effort=fast");
    if (lists_.empty()) {
      if (!efforts_.empty()) specs.emplace_back("auto");
      for (const char* name : {"metis", "scotch"})
        if (find_mapper(name) != nullptr) specs.emplace_back(name);
    }
    specs = with_efforts(specs, split(efforts_, ','));
    std::set<std::string> seen;
    std::erase_if(specs, [&](const std::string& spec) { return !seen.insert(spec).second; });
    for (const std::string& spec : specs)
      if (auto known = make_any_mapper(spec, external_); !known) return propagate(known);
    if (baseline_.empty()) baseline_ = specs.front();
    if (std::find(specs.begin(), specs.end(), baseline_) != specs.end()) return specs;
    return fail(Code::usage, at("--baseline"), fmt::format("{} is not one of the mappers", baseline_),
                fmt::format("add -a {}", shell_quote(baseline_)));
  }

  /// Continues an earlier call with the same experiment.
  Result<OutputDirectory> open_directory(const BenchPlan& plan) const {
    auto directory = OutputDirectory::open(output_, existing(force_));
    if (!directory) return directory;
    const std::string plan_path = directory->file(plan_file);
    std::error_code ignored;
    if (!force_ && directory->owns(plan_file)) {
      auto file = read_file(plan_path);
      if (!file) return propagate(file);
      const Json earlier = Json::parse(file->view(), nullptr, false);
      if (auto same = plan.check_continues(earlier, plan_path); !same) return propagate(same);
    } else if (!force_ && std::filesystem::exists(directory->file(rows_file), ignored)) {
      return fail(Code::usage, at(directory->file(rows_file)), "the rows of an experiment without its experiment.json",
                  "choose another directory with -o, or replace the results with --force");
    }
    std::vector<std::string> names = BenchResult::file_names();
    names.emplace_back(rows_file);
    if (auto reserved = directory->reserve(names); !reserved) return propagate(reserved);
    if (force_) directory->remove(rows_file);
    if (auto written = directory->write({{plan_file, to_line(plan.json())}}); !written) return propagate(written);
    return directory;
  }

  /// The rows of the plan by key; a later row replaces an earlier one.
  static std::map<std::string, const Json*> rows_by_key(const RowJournal& journal) {
    std::map<std::string, const Json*> rows;
    for (const Json& row : journal.rows()) {
      if (const auto run = read_bench_row(row)) rows[key_of(*run)] = &row;
    }
    return rows;
  }

  static std::string key_of(const BenchRun& run) {
    return run_key(run.instance->graph, run.instance->machine, run.mapper, run.seed, run.budget);
  }
  static std::string key_of(const ExperimentRun& run) {
    std::optional<std::chrono::milliseconds> budget;
    if (run.budget > 0) budget = std::chrono::milliseconds(std::llround(run.budget * 1000));
    return run_key(run.graph, run.machine, run.mapper, run.seed, budget);
  }

  Result<void> run_missing(const BenchPlan& plan, RowJournal& journal, Progress& progress) const {
    std::vector<BenchRun> missing = plan.runs();
    const auto rows = rows_by_key(journal);
    std::erase_if(missing, [&](const BenchRun& run) {
      const auto row = rows.find(key_of(run));
      return row != rows.end() && !(retry_failed_ && row->second->contains("error"));
    });
    if (missing.empty()) return {};
    const Json provenance = bench_provenance();
    std::size_t done = 0;
    const auto report = [&] {
      progress.report(fmt::format("{} of {}", done, counted(missing.size(), "run")),
                      static_cast<double>(done) / static_cast<double>(missing.size()));
    };
    report();
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    Result<void> written;
    const auto work = [&] {
      for (std::size_t i = next++; i < missing.size(); i = next++) {
        Json row = run_bench(missing[i], plan.settings, provenance);
        const std::lock_guard lock(mutex);
        if (!written) return;
        written = journal.append(std::move(row));
        ++done;
        report();
      }
    };
    std::vector<std::thread> workers;
    for (std::size_t i = 1; i < std::min<std::size_t>(jobs_, missing.size()); ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
    return written;
  }

  Result<int> deliver(const Session& session, const BenchPlan& plan, const RowJournal& journal,
                      OutputDirectory& directory) const {
    const auto rows = rows_by_key(journal);
    std::vector<ExperimentRun> runs;
    Json kept = Json::array();
    for (const BenchRun& planned : plan.runs()) {
      const auto row = rows.find(key_of(planned));
      if (row == rows.end()) continue;
      runs.push_back(*read_bench_row(*row->second));
      runs.back().best_known = planned.instance->best_known;
      kept.push_back(*row->second);
    }
    const bool has_packs = std::any_of(graphs_.begin(), graphs_.end(), is_pack);
    ExperimentRun baseline;
    baseline.mapper = baseline_;
    if (!plan.budgets.empty()) baseline.budget = std::chrono::duration<double>(plan.budgets.back()).count();
    const BenchResult result = BenchResult::of(std::move(runs), baseline.contender(), has_packs);
    if (auto written = directory.write(result.files()); !written) return propagate(written);
    if (session.json) {
      print_json(result.json(output_, std::move(kept)));
    } else {
      print(result.text(output_, session.width));
    }
    return result.experiment.failed_runs > 0 ? some_runs_failed : success;
  }

  std::vector<std::string> graphs_, machines_, lists_;
  std::string efforts_, budgets_, baseline_, output_ = "rankloom-bench";
  RunArguments run_;
  ExternalArguments external_;
  std::uint64_t seeds_ = 3, jobs_ = 1;
  bool force_ = false, retry_failed_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_bench() {
  return std::make_unique<BenchVerb>();
}

}  // namespace rankloom::app
