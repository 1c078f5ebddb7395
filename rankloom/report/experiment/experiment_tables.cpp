// SPDX-License-Identifier: Apache-2.0
// report/experiment: the results of an experiment as tables.
#include "rankloom/report/experiment/experiment_tables.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

/// Ratios of costs differ in their third digit.
std::string ratio_text(double ratio) {
  return ratio < 10 ? fmt::format("{:.3f}", ratio) : factor(ratio);
}

/// Predicted times are far below 1.
std::string rounded_cost(double cost) {
  if (cost != 0 && std::abs(cost) < 1) return fmt::format("{:.4g}", cost);
  return cost_number(std::round(cost * 1e6) / 1e6);
}

std::string summary_table(const Experiment& experiment, const std::string& instance_class, std::size_t baseline,
                          std::size_t width) {
  const auto rows = summarise_mappers(experiment, instance_class, baseline);
  const std::size_t instances = rows.empty() ? 0 : rows[0].instances;
  std::string text =
      fmt::format("{}: {}\n", instance_class.empty() ? "all" : instance_class,
                  instances == 0 ? "no instance has a result of every mapper" : counted(instances, "instance"));
  if (instances == 0) return text;
  constexpr auto right = Table::Align::right;
  Table table({{"mapper"}, {"cost", right}, {"ratio", right}, {"best", right}, {"CPU time", right}, {"ratio", right}});
  for (const MapperSummary& row : rows) {
    table.row({row.mapper, rounded_cost(row.cost), ratio_text(row.cost_ratio), fmt::format("{}", row.best),
               format_seconds(row.cpu_seconds), ratio_text(row.cpu_ratio)});
  }
  return text + table.text(width);
}

std::string latex_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      result += fmt::format("\\{}{{}}", c);
    } else {
      if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string experiment_text(const Experiment& experiment, std::size_t baseline, std::size_t width) {
  std::string text;
  const auto classes = experiment.classes();
  if (classes.size() > 1) {
    for (const std::string& instance_class : classes)
      text += summary_table(experiment, instance_class, baseline, width) + "\n";
  }
  text += summary_table(experiment, "", baseline, width) + "\n";
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    if (mapper == baseline) continue;
    text += fmt::format("  {}\n",
                        to_sentence(compare_with_baseline(experiment, mapper, baseline), experiment.mappers[baseline]));
  }
  return text;
}

std::string leaderboard_text(const Experiment& experiment, std::size_t width) {
  constexpr auto right = Table::Align::right;
  Table table({{"graph"}, {"machine"}, {"lowest cost", right}, {"by"}, {"best known", right}, {"found by"}, {""}});
  for (const ExperimentInstance& instance : experiment.instances) {
    const auto best = std::min_element(instance.cells.begin(), instance.cells.end(),
                                       [](const Cell& a, const Cell& b) { return a.min_cost < b.min_cost; });
    if (best == instance.cells.end() || !best->complete()) continue;
    std::string remark;
    if (instance.best_known) {
      const double known = instance.best_known->cost, tolerance = 1e-9 * known;
      remark = best->min_cost < known - tolerance   ? "better than the best known"
               : best->min_cost > known + tolerance ? change(known, best->min_cost)
                                                    : "equal";
    }
    table.row({instance.graph, instance.machine, rounded_cost(best->min_cost),
               experiment.mappers[static_cast<std::size_t>(best - instance.cells.begin())],
               instance.best_known ? rounded_cost(instance.best_known->cost) : "",
               instance.best_known ? instance.best_known->found_by : "", remark});
  }
  return table.empty() ? std::string() : table.text(width);
}

std::string experiment_latex(const Experiment& experiment, std::size_t baseline) {
  std::string text = fmt::format(
      "% Geometric means; ratios relative to {}.\n\\begin{{tabular}}{{llrrrr}}\n\\hline\n"
      "instances & mapper & cost & ratio & CPU time [s] & ratio \\\\\n\\hline\n",
      experiment.mappers[baseline]);
  auto classes = experiment.classes();
  if (classes.size() == 1) classes.clear();
  classes.emplace_back();
  for (const std::string& instance_class : classes) {
    const auto rows = summarise_mappers(experiment, instance_class, baseline);
    bool first = true;
    for (const MapperSummary& row : rows) {
      if (row.instances == 0) continue;
      text +=
          fmt::format("{} & {} & {:.6g} & {:.3f} & {:.3g} & {:.3f} \\\\\n",
                      !first                   ? std::string()
                      : instance_class.empty() ? fmt::format("all ({})", row.instances)
                                               : fmt::format("{} ({})", latex_escaped(instance_class), row.instances),
                      latex_escaped(row.mapper), row.cost, row.cost_ratio, row.cpu_seconds, row.cpu_ratio);
      first = false;
    }
    if (!first) text += "\\hline\n";
  }
  return text + "\\end{tabular}\n";
}

std::string experiment_csv(std::span<const ExperimentRun> runs) {
  std::string text = "graph,machine,class,mapper,seed,ranks,edges,cost,cpu_seconds,seconds,peak_bytes,error\n";
  for (const ExperimentRun& run : runs) {
    text += fmt::format("{},{},{},{},{},", csv_field(run.graph), csv_field(run.machine), csv_field(run.instance_class),
                        csv_field(run.contender()), run.seed);
    text += run.succeeded()
                ? fmt::format("{},{},{},{},{},{},\n", run.ranks, run.edges, format_value(run.cost),
                              format_value(run.cpu_seconds), format_value(run.seconds), format_value(run.peak_bytes))
                : fmt::format(",,,,,,{}\n", csv_field(run.error));
  }
  return text;
}

}  // namespace rankloom
