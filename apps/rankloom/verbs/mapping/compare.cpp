// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom compare`: runs several mappers on one problem, each with one or more seeds.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/report/terminal/progress_bar.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

constexpr std::chrono::milliseconds default_budget{10'000};

/// The results of one mapper over all its runs.
struct Row {
  std::string mapper;
  std::vector<double> costs, times_ms;
  Sample cost, time_ms;
  std::string note;
  bool bounded = true;  ///< The lower bound holds, because the mapper respects the capacities.
};

struct Skipped {
  std::string mapper, why;
};

class CompareVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    problem_.describe(app, "PROFILE");
    add_repeated(
        app,
        {"-a,--mapper", "MAPPER",
         "a mapper, or several separated by commas; may be repeated; by default all mappers that suit the size", "run"},
        lists_);
    run_.describe(app);
    set_default_text(app, "--budget", "10s");
    OptionList list;
    list.count("runs", runs_, "how often each mapper runs, with the seeds --seed, --seed + 1, ..", 1, 1'000'000);
    add_listed(app, *list.find("runs"), "run", list.find("runs")->set);
  }

  Result<int> run(const Session& session) override {
    auto chosen = choose();
    if (!chosen) return propagate(chosen);
    const ThreadLimit limit(run_.threads);
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    auto instance = problem_.load(progress);
    if (!instance) return propagate(instance);
    run_.choose_model(problem_, *instance);

    std::vector<Row> rows;
    std::vector<Skipped> skipped;
    for (const ConfiguredMapper& mapper : *chosen) {
      auto row = measure(mapper, *instance, progress);
      if (row) {
        rows.push_back(std::move(*row));
      } else if (lists_.empty() && row.error().code == Code::infeasible) {
        skipped.push_back({mapper.spec, row.error().what});
      } else {
        return propagate(row);
      }
    }
    find_bound(*instance, progress);
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return objective(run_.model, a.cost.mean) < objective(run_.model, b.cost.mean);
    });
    if (bound_ && !rows.empty() && !is_informative_bound(rows[0].cost.mean, *bound_)) bound_.reset();
    progress.finish();
    if (session.json) {
      print_json(to_json(*instance, rows, skipped));
    } else {
      print(summary(*instance, rows, skipped));
    }
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
      auto mapper = make_mapper(spec);
      if (!mapper) return propagate(mapper);
      chosen.push_back(std::move(*mapper));
    }
    return chosen;
  }

  Result<Row> measure(const ConfiguredMapper& mapper, const Instance& instance, Progress& progress) {
    Row row;
    row.mapper = mapper.spec;
    row.bounded = !mapper.mapper->balances_load();
    const MapProblem problem{instance.graph, instance.topology, instance.capacities, run_.model, {}};
    for (std::uint64_t run = 0; run < runs_; ++run) {
      progress.report(runs_ > 1 ? fmt::format("{} ({} of {})", mapper.spec, run + 1, runs_) : mapper.spec, -1);
      const MapRun map_run{.seed = run_.seed + run, .deadline = deadline(mapper), .progress = progress};
      auto result =
          run_mapper(mapper, problem, map_run, {.default_placement = instance.default_placement, .keep_worse = true});
      if (!result) return propagate(result);
      row.costs.push_back(result->cost);
      row.times_ms.push_back(result->time_ms);
      row.note = result->note;
      cost_default_ = result->cost_default;
      if (row.bounded && result->lower_bound) tighten(*result->lower_bound);
    }
    row.cost = summarise(row.costs);
    row.time_ms = summarise(row.times_ms);
    return row;
  }

  /// Keeps the tightest of the lower bounds that mappers and find_bound() report.
  void tighten(double bound) {
    if (!bound_ || objective(run_.model, bound) > objective(run_.model, *bound_)) bound_ = bound;
  }

  void find_bound(const Instance& instance, Progress& progress) {
    progress.report("lower bound", -1);
    const MapProblem problem{instance.graph, instance.topology, instance.capacities, run_.model, {}};
    if (const auto bound = lower_bound(problem)) tighten(objective(run_.model, *bound));
  }

  bool has_gap(const Row& row) const { return bound_ && row.bounded; }

  /// The default time limit does not apply to mappers with the option `force`: they reject problems that they cannot
  /// finish, but with a time limit they would search in vain until it expires.
  Deadline deadline(const ConfiguredMapper& mapper) const {
    if (run_.budget) return run_.deadline();
    OptionList options;
    mapper.mapper->describe(options);
    return options.find("force") != nullptr ? Deadline() : Deadline::in(default_budget);
  }

  double gain(const Row& row) const {
    return gain_percent(cost_default_, row.cost.mean, info(run_.model).larger_is_better);
  }

  Json to_json(const Instance& instance, const std::vector<Row>& rows, const std::vector<Skipped>& skipped) const {
    Json json = problem_.json(instance, run_.model);
    json["seed"] = run_.seed;
    json["runs"] = runs_;
    json["cost_default"] = cost_default_;
    json["lower_bound"] = bound_ ? Json(*bound_) : Json();
    json["mappers"] = Json::array();
    for (const Row& row : rows) {
      json["mappers"].push_back({{"mapper", row.mapper},
                                 {"cost", row.cost.mean},
                                 {"cost_spread", row.cost.spread},
                                 {"cost_min", row.cost.min},
                                 {"cost_max", row.cost.max},
                                 {"gain_percent", gain(row)},
                                 {"gap_percent", has_gap(row) ? Json(gap_percent(row.cost.mean, *bound_)) : Json()},
                                 {"time_ms", row.time_ms.mean},
                                 {"time_spread_ms", row.time_ms.spread},
                                 {"best", row.cost.mean == rows[0].cost.mean},
                                 {"note", row.note},
                                 {"costs", row.costs},
                                 {"times_ms", row.times_ms}});
    }
    json["skipped"] = Json::array();
    for (const Skipped& mapper : skipped) json["skipped"].push_back({{"mapper", mapper.mapper}, {"why", mapper.why}});
    return json;
  }

  std::string summary(const Instance& instance, const std::vector<Row>& rows,
                      const std::vector<Skipped>& skipped) const {
    std::string text = fmt::format("{} on {}, cost ({}) of the default placement: {}\n\n",
                                   counted(instance.graph.rank_count(), "rank"), counted_cores(instance.topology),
                                   info(run_.model).name, cost_text(run_.model, cost_default_));
    const std::string spread = runs_ > 1 ? fmt::format(" (mean ± standard deviation of {})", runs_) : "";
    std::vector<Table::Column> columns{
        {"mapper"}, {"cost" + spread, Table::Align::right}, {"gain", Table::Align::right}};
    if (bound_) columns.push_back({"gap", Table::Align::right});
    columns.push_back({"time", Table::Align::right});
    columns.push_back({""});
    Table table(columns);
    for (const Row& row : rows) {
      std::string remark = row.cost.mean == rows[0].cost.mean ? "best" : "";
      if (!row.note.empty()) remark += (remark.empty() ? "" : ", ") + row.note;
      std::vector<std::string> cells{row.mapper,
                                     with_spread(row.cost, [this](double cost) { return cost_text(run_.model, cost); }),
                                     percent(gain(row))};
      if (bound_) cells.push_back(has_gap(row) ? percent(gap_percent(row.cost.mean, *bound_)) : "");
      cells.push_back(with_spread(row.time_ms, [](double ms) { return format_seconds(ms / 1000); }));
      cells.push_back(remark);
      table.row(std::move(cells));
    }
    text += table.text() + "\n";
    for (const Skipped& mapper : skipped) text += fmt::format("  skipped: {} ({})\n", mapper.mapper, mapper.why);
    return text + verdict(rows);
  }

  template <class Format>
  std::string with_spread(const Sample& sample, Format format) const {
    if (runs_ == 1) return format(sample.mean);
    const bool is_rounding = sample.spread < 1e-12 * std::abs(sample.mean);
    return fmt::format("{} ± {}", format(sample.mean), format(is_rounding ? 0 : sample.spread));
  }

  /// The result in a sentence, and the command that writes the best mapping.
  std::string verdict(const std::vector<Row>& rows) const {
    if (rows.empty()) return "  no mapper accepts a problem of this size\n";
    const Row& best = rows[0];
    std::string text;
    if (has_gap(best) && *bound_ != 0) {
      const bool larger_is_better = info(run_.model).larger_is_better;
      text = fmt::format("  {}: {}\n", best.mapper, bound_sentence(best.cost.mean, *bound_, larger_is_better));
    }
    if (gain(best) <= 0) return text + "  no mapper is better than the launcher's default placement\n";
    text += fmt::format("  {} saves {} of the cost of the launcher's default placement\n", best.mapper,
                        percent(gain(best)));
    return text + fmt::format("next: rankloom map {} -a {}{} -o mapping.txt\n", problem_.command_line(""),
                              shell_quote(best.mapper), run_.command_line());
  }

  ProblemArguments problem_;
  RunArguments run_;
  std::vector<std::string> lists_;
  std::uint64_t runs_ = 1;
  double cost_default_ = 0;
  std::optional<double> bound_;
};

}  // namespace

std::unique_ptr<Verb> make_compare() {
  return std::make_unique<CompareVerb>();
}

}  // namespace rankloom::app
