// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: the result of an experiment.
#include "apps/rankloom/verbs/mapping/bench/bench_result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/document/html.hpp"
#include "rankloom/report/experiment/experiment_tables.hpp"
#include "rankloom/report/experiment/plot.hpp"

namespace rankloom::app {

namespace {

constexpr std::size_t max_errors_shown = 5;

Json summaries_json(const Experiment& experiment, const std::string& instance_class, std::size_t baseline) {
  Json rows = Json::array();
  for (const MapperSummary& row : summarise_mappers(experiment, instance_class, baseline)) {
    if (row.instances == 0) continue;
    rows.push_back({{"mapper", row.mapper},
                    {"instances", row.instances},
                    {"cost", row.cost},
                    {"cost_ratio", row.cost_ratio},
                    {"best", row.best},
                    {"cpu_seconds", row.cpu_seconds},
                    {"cpu_ratio", row.cpu_ratio}});
  }
  return rows;
}

Json tests_json(const Experiment& experiment, std::size_t baseline) {
  Json rows = Json::array();
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    if (mapper == baseline) continue;
    const MapperTest test = compare_with_baseline(experiment, mapper, baseline);
    rows.push_back({{"mapper", test.mapper},
                    {"instances", test.instances},
                    {"less", test.less},
                    {"more", test.more},
                    {"pairs", test.test.pairs},
                    {"p_value", test.test.p_value},
                    {"effect", test.test.effect},
                    {"exact", test.test.exact},
                    {"sentence", to_sentence(test, experiment.mappers[baseline])}});
  }
  return rows;
}

Json plot_json(const Plot& plot) {
  const auto axis = [](const PlotAxis& of) { return Json{{"title", of.title}, {"logarithmic", of.logarithmic}}; };
  Json all = Json::array();
  for (const PlotSeries& series : plot.series) {
    Json points = Json::array();
    for (const PlotPoint& point : series.points) points.push_back(Json::array({point.x, point.y, point.about}));
    all.push_back(
        {{"name", series.name}, {"line", series.line}, {"marks", series.marks}, {"points", std::move(points)}});
  }
  return {{"title", plot.title}, {"x", axis(plot.x)}, {"y", axis(plot.y)}, {"series", std::move(all)}};
}

/// The lowest costs of all instances, with the best known ones.
Json leaderboard_json(const Experiment& experiment) {
  Json rows = Json::array();
  for (const ExperimentInstance& instance : experiment.instances) {
    Json row{{"graph", instance.graph}, {"machine", instance.machine}, {"costs", Json::object()}};
    for (std::size_t mapper = 0; mapper < instance.cells.size(); ++mapper) {
      if (instance.cells[mapper].complete()) row["costs"][experiment.mappers[mapper]] = instance.cells[mapper].min_cost;
    }
    if (instance.best_known) {
      row["best_known"] = instance.best_known->cost;
      row["found_by"] = instance.best_known->found_by;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

BenchResult BenchResult::of(std::vector<ExperimentRun> runs, const std::string& baseline, bool has_packs) {
  BenchResult result{.runs = std::move(runs), .experiment = {}, .baseline = 0, .has_packs = has_packs};
  result.experiment = Experiment::of(result.runs);
  result.baseline = result.experiment.find_mapper(baseline).value_or(0);
  return result;
}

std::string BenchResult::page() const {
  Json sentences = Json::array(), classes = Json::array(), plots = Json::array();
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    if (mapper == baseline) continue;
    sentences.push_back(to_sentence(compare_with_baseline(experiment, mapper, baseline), experiment.mappers[baseline]));
  }
  std::vector<std::string> names = experiment.classes();
  if (names.size() == 1) names.clear();
  names.emplace_back();  // all classes
  for (const std::string& name : names)
    classes.push_back({{"class", name}, {"mappers", summaries_json(experiment, name, baseline)}});
  for (const Plot& plot : {performance_profile_plot(experiment), pareto_plot(experiment, baseline),
                           convergence_plot(experiment), scaling_plot(experiment)})
    plots.push_back(plot_json(plot));
  const std::string title = fmt::format("{} on {}", counted(experiment.mappers.size(), "mapper"),
                                        counted(experiment.instances.size(), "instance"));
  const Json document{{"schema", "rankloom-report/1"},
                      {"title", title},
                      {"experiment",
                       {{"baseline", experiment.mappers.empty() ? std::string() : experiment.mappers[baseline]},
                        {"failed", experiment.failed_runs},
                        {"sentences", std::move(sentences)},
                        {"classes", std::move(classes)},
                        {"plots", std::move(plots)}}},
                      {"reproduce", {{"version", fmt::format("rankloom {}", RANKLOOM_VERSION)}}}};
  return fill_page(report_page(), to_line(document), title);
}

std::vector<OutputFile> BenchResult::files() const {
  return {{"report.html", page()},
          {"rows.csv", experiment_csv(runs)},
          {"table.tex", experiment_latex(experiment, baseline)},
          {"performance_profile.svg", to_svg(performance_profile_plot(experiment))},
          {"pareto.svg", to_svg(pareto_plot(experiment, baseline))},
          {"convergence.svg", to_svg(convergence_plot(experiment))},
          {"scaling.svg", to_svg(scaling_plot(experiment))}};
}

std::vector<std::string> BenchResult::file_names() {
  return {"report.html", "rows.csv",        "table.tex",  "performance_profile.svg",
          "pareto.svg",  "convergence.svg", "scaling.svg"};
}

std::string BenchResult::text(const std::string& directory, std::size_t width) const {
  std::string text;
  if (has_packs) {
    const std::string leaderboard = leaderboard_text(experiment, width);
    if (!leaderboard.empty()) text += "leaderboard\n" + leaderboard + "\n";
  }
  text += experiment_text(experiment, baseline, width);
  if (experiment.failed_runs > 0) {
    text += fmt::format("\n{} of {} failed:\n", experiment.failed_runs, counted(runs.size(), "run"));
    std::size_t shown = 0;
    for (const ExperimentRun& run : runs) {
      if (run.succeeded() || shown++ >= max_errors_shown) continue;
      text += fmt::format("  {} on {}, {}, seed {}: {}\n", run.mapper, run.graph, run.machine, run.seed, run.error);
    }
    if (shown > max_errors_shown) text += fmt::format("  and {} more\n", shown - max_errors_shown);
  }
  return text + fmt::format(
                    "\nwritten to {}: report.html, rows.jsonl, rows.csv, table.tex, performance_profile.svg, "
                    "pareto.svg, convergence.svg, scaling.svg\n",
                    directory);
}

Json BenchResult::json(const std::string& directory, Json rows) const {
  Json classes = Json::array();
  for (const std::string& name : experiment.classes())
    classes.push_back({{"class", name}, {"mappers", summaries_json(experiment, name, baseline)}});
  return {{"directory", directory},
          {"runs", runs.size()},
          {"failed", experiment.failed_runs},
          {"baseline", experiment.mappers.empty() ? std::string() : experiment.mappers[baseline]},
          {"mappers", summaries_json(experiment, "", baseline)},
          {"classes", std::move(classes)},
          {"tests", tests_json(experiment, baseline)},
          {"leaderboard", leaderboard_json(experiment)},
          {"rows", std::move(rows)}};
}

}  // namespace rankloom::app
