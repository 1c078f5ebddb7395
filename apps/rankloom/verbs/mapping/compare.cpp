// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom compare`: runs several mappers on one or several problems, each with one or more seeds.
#include <fmt/format.h>

#include "apps/rankloom/arguments/external_mapper.hpp"
#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/mapping/comparison.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/progress_part.hpp"

namespace rankloom::app {

namespace {

constexpr std::chrono::milliseconds default_budget{10'000};

class CompareVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    problem_.profile.describe_several(app, "PROFILE", profiles_);
    problem_.describe_without_profile(app);
    add_repeated(
        app,
        {"-a,--mapper", "MAPPER",
         "a mapper, or several separated by commas; a program, exec:COMMAND; a mapping file, file:FILE; may be "
         "repeated; by default all mappers that suit the size",
         "run"},
        lists_);
    run_.describe(app);
    set_default_text(app, "--budget", "10s");
    external_.describe(app);
    OptionList list;
    list.count("runs", runs_, "how often each mapper runs, with the seeds --seed, --seed + 1, ..", 1, 1'000'000);
    add_listed(app, *list.find("runs"), "run", list.find("runs")->set);
    add_switch(app, "--csv", "print comma-separated values, one line per run", csv_, "output");
  }

  Result<int> run(const Session& session) override {
    if (csv_ && session.json) {
      return fail(Code::usage, at("--csv"), "comma-separated values and JSON cannot both go to standard output",
                  "leave out --csv or --json");
    }
    auto chosen = choose();
    if (!chosen) return propagate(chosen);
    const ThreadLimit limit(run_.threads);
    ProgressDisplay progress(stderr, session.progress);
    std::vector<MapperComparison> comparisons;
    for (const std::string& profile : profiles_) {
      problem_.profile.profile = profile;
      ProgressPart part(progress, comparisons.size(), profiles_.size());
      auto comparison = compare(*chosen, part);
      if (!comparison) return propagate(comparison);
      comparisons.push_back(*std::move(comparison));
    }
    progress.finish();
    deliver(session, comparisons);
    return success;
  }

 private:
  Result<std::vector<ConfiguredMapper>> choose() const {
    std::vector<std::string> specs;
    for (const std::string& list : lists_) {
      for (std::string& spec : split_mappers(list)) specs.push_back(std::move(spec));
    }
    if (lists_.empty()) {
      for (const MapperInfo& row : mappers()) specs.emplace_back(row.name);
    }
    std::vector<ConfiguredMapper> chosen;
    for (const std::string& spec : specs) {
      auto mapper = make_any_mapper(spec, external_);
      if (!mapper) return propagate(mapper);
      chosen.push_back(std::move(*mapper));
    }
    return chosen;
  }

  /// All mappers on the problem with the current profile.
  Result<MapperComparison> compare(const std::vector<ConfiguredMapper>& chosen, Progress& progress) const {
    auto instance = problem_.load(progress);
    if (!instance) return propagate(instance);
    RunArguments run = run_;
    run.choose_model(problem_, *instance);
    MapperComparison result{.about = problem_.json(*instance, run.model),
                            .size = fmt::format("{} on {}", counted(instance->graph.rank_count(), "rank"),
                                                counted_cores(instance->topology)),
                            .next_map = problem_.command_line(""),
                            .next_run = run.command_line(),
                            .model = run.model,
                            .seed = run.seed,
                            .runs = runs_};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const ConfiguredMapper& mapper = chosen[i];
      ProgressPart part(progress, i, chosen.size());
      auto row = measure(mapper, *instance, result, part);
      if (row) {
        result.rows.push_back(std::move(*row));
      } else if (lists_.empty() && row.error().code == Code::infeasible) {
        result.skipped.push_back({mapper.spec, row.error().what});
      } else {
        return propagate(row);
      }
    }
    progress.report("lower bound", 1);
    const MapProblem problem{instance->graph, instance->topology, instance->capacities, run.model, {}};
    if (const auto bound = lower_bound(problem)) result.tighten(objective(run.model, *bound));
    result.finish();
    return result;
  }

  /// The runs of one mapper. A bound that it reports goes into `result`.
  Result<ComparedMapper> measure(const ConfiguredMapper& mapper, const Instance& instance, MapperComparison& result,
                                 Progress& progress) const {
    ComparedMapper row;
    row.mapper = mapper.spec;
    row.bounded = !mapper.mapper->balances_load();
    auto start = given_start(mapper, instance);
    if (!start) return propagate(start);
    const MapProblem problem{instance.graph, instance.topology, instance.capacities, result.model, *start};
    for (std::uint64_t run = 0; run < runs_; ++run) {
      ProgressPart part(progress, run, runs_);
      part.report(runs_ > 1 ? fmt::format("{} ({} of {})", mapper.spec, run + 1, runs_) : mapper.spec, -1);
      const MapRun map_run{.seed = result.seed + run, .deadline = deadline(mapper), .progress = part};
      auto mapped =
          run_mapper(mapper, problem, map_run, {.default_placement = instance.default_placement, .keep_worse = true});
      if (!mapped) return propagate(mapped);
      row.costs.push_back(mapped->cost);
      row.times_ms.push_back(mapped->time_ms);
      row.note = mapped->note;
      result.cost_default = mapped->cost_default;
      if (row.bounded && mapped->lower_bound) result.tighten(*mapped->lower_bound);
    }
    row.cost = summarise(row.costs);
    row.time_ms = summarise(row.times_ms);
    return row;
  }

  /// The default time limit does not apply to mappers with the option `force`: they reject problems that they cannot
  /// finish, but with a time limit they would search in vain until it expires.
  Deadline deadline(const ConfiguredMapper& mapper) const {
    if (run_.budget) return run_.deadline();
    OptionList options;
    mapper.mapper->describe(options);
    return options.find("force") != nullptr ? Deadline() : Deadline::in(default_budget);
  }

  void deliver(const Session& session, const std::vector<MapperComparison>& comparisons) const {
    if (session.json && comparisons.size() == 1) return print_json(comparisons[0].json());
    Json problems = Json::array();
    std::string text = csv_ ? comparison_csv_heading : "";
    for (const MapperComparison& comparison : comparisons) {
      if (session.json) {
        problems.push_back(comparison.json());
      } else if (csv_) {
        text += comparison.csv();
      } else {
        if (comparisons.size() > 1)
          text += fmt::format("{}{}\n", text.empty() ? "" : "\n", comparison.about.value("profile", std::string()));
        text += comparison.text(session.width);
      }
    }
    if (session.json) return print_json({{"problems", std::move(problems)}});
    print(text);
  }

  ProblemArguments problem_;
  RunArguments run_;
  ExternalArguments external_;
  std::vector<std::string> profiles_, lists_;
  std::uint64_t runs_ = 1;
  bool csv_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_compare() {
  return std::make_unique<CompareVerb>();
}

}  // namespace rankloom::app
