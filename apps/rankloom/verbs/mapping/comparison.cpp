// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: the results of several mappers on one problem.
#include "apps/rankloom/verbs/mapping/comparison.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom::app {

namespace {

template <class Format>
std::string with_deviation(const Sample& sample, std::uint64_t runs, Format format) {
  if (runs == 1) return format(sample.mean);
  const bool is_rounding = sample.spread < 1e-12 * std::abs(sample.mean);
  return fmt::format("{} ± {}", format(sample.mean), format(is_rounding ? 0 : sample.spread));
}

}  // namespace

void MapperComparison::tighten(double value) {
  if (!bound || objective(model, value) > objective(model, *bound)) bound = value;
}

void MapperComparison::finish() {
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedMapper& a, const ComparedMapper& b) {
    return objective(model, a.cost.mean) < objective(model, b.cost.mean);
  });
  if (bound && !rows.empty() && !is_informative_bound(rows[0].cost.mean, *bound)) bound.reset();
}

double MapperComparison::gain(const ComparedMapper& row) const {
  return gain_percent(cost_default, row.cost.mean, info(model).larger_is_better);
}

Json MapperComparison::json() const {
  Json json = about;
  json["seed"] = seed;
  json["runs"] = runs;
  json["cost_default"] = cost_default;
  json["lower_bound"] = bound ? Json(*bound) : Json();
  json["mappers"] = Json::array();
  for (const ComparedMapper& row : rows) {
    json["mappers"].push_back({{"mapper", row.mapper},
                               {"cost", row.cost.mean},
                               {"cost_spread", row.cost.spread},
                               {"cost_min", row.cost.min},
                               {"cost_max", row.cost.max},
                               {"gain_percent", gain(row)},
                               {"gap_percent", has_gap(row) ? Json(gap_percent(row.cost.mean, *bound)) : Json()},
                               {"time_ms", row.time_ms.mean},
                               {"time_spread_ms", row.time_ms.spread},
                               {"best", row.cost.mean == rows[0].cost.mean},
                               {"note", row.note},
                               {"costs", row.costs},
                               {"times_ms", row.times_ms}});
  }
  json["skipped"] = Json::array();
  for (const SkippedMapper& mapper : skipped)
    json["skipped"].push_back({{"mapper", mapper.mapper}, {"why", mapper.why}});
  return json;
}

std::string MapperComparison::csv() const {
  const auto field = [this](const char* key) { return csv_field(about.value(key, std::string())); };
  const std::string begin = fmt::format("{},{},{},{},{},", field("profile"), field("topology"), info(model).name,
                                        about.value("ranks", 0U), about.value("cores", 0U));
  std::string text;
  for (const ComparedMapper& row : rows) {
    for (std::size_t run = 0; run < row.costs.size(); ++run) {
      text += fmt::format("{}{},{},{},{},{},{}\n", begin, csv_field(row.mapper), seed + run,
                          format_value(row.costs[run]), format_value(cost_default),
                          has_gap(row) ? format_value(*bound) : "", format_value(row.times_ms[run]));
    }
  }
  return text;
}

std::string MapperComparison::text(std::size_t width) const {
  std::string text = fmt::format("{}, cost ({}) of the default placement: {}\n\n", size, info(model).name,
                                 cost_text(model, cost_default));
  text += table(width) + "\n";
  for (const SkippedMapper& mapper : skipped) text += fmt::format("  skipped: {} ({})\n", mapper.mapper, mapper.why);
  return text + verdict();
}

std::string MapperComparison::table(std::size_t width) const {
  const std::string deviation = runs > 1 ? fmt::format(" (mean ± standard deviation of {})", runs) : "";
  std::vector<Table::Column> columns{
      {"mapper"}, {"cost" + deviation, Table::Align::right}, {"gain", Table::Align::right}};
  if (bound) columns.push_back({"gap", Table::Align::right});
  columns.push_back({"time", Table::Align::right});
  columns.push_back({""});
  Table table(columns);
  for (const ComparedMapper& row : rows) {
    std::string remark = row.cost.mean == rows[0].cost.mean ? "best" : "";
    if (!row.note.empty()) remark += (remark.empty() ? "" : ", ") + row.note;
    std::vector<std::string> cells{
        row.mapper, with_deviation(row.cost, runs, [this](double cost) { return cost_text(model, cost); }),
        percent(gain(row))};
    if (bound) cells.push_back(has_gap(row) ? percent(gap_percent(row.cost.mean, *bound)) : "");
    cells.push_back(with_deviation(row.time_ms, runs, [](double ms) { return format_seconds(ms / 1000); }));
    cells.push_back(remark);
    table.row(std::move(cells));
  }
  return table.text(width);
}

/// The result in a sentence, and the command that writes the best mapping.
std::string MapperComparison::verdict() const {
  if (rows.empty()) return "  no mapper accepts a problem of this size\n";
  const ComparedMapper& best = rows[0];
  std::string text;
  if (has_gap(best) && *bound != 0)
    text = fmt::format("  {}: {}\n", best.mapper, bound_sentence(best.cost.mean, *bound, info(model).larger_is_better));
  if (gain(best) <= 0) return text + "  no mapper is better than the launcher's default placement\n";
  text +=
      fmt::format("  {} saves {} of the cost of the launcher's default placement\n", best.mapper, percent(gain(best)));
  return text +
         fmt::format("next: rankloom map {} -a {}{} -o mapping.txt\n", next_map, shell_quote(best.mapper), next_run);
}

}  // namespace rankloom::app
