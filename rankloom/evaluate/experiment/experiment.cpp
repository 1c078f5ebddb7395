// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: an experiment with mappers.
#include "rankloom/evaluate/experiment/experiment.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr double significance_level = 0.05;

/// Equal costs, also 0, have the ratio 1.
double ratio(double value, double reference) {
  return value == reference ? 1 : value / reference;
}

/// The values of one cell while runs are collected.
struct Collected {
  std::vector<double> costs, cpu_seconds;
  bool failed = false;

  Cell cell() const {
    if (failed || costs.empty()) return {};
    return {geometric_mean(costs), geometric_mean(cpu_seconds), *std::min_element(costs.begin(), costs.end())};
  }
};

std::size_t position_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

std::string ExperimentRun::contender() const {
  if (budget <= 0) return mapper;
  return budget < 1 ? fmt::format("{} in {:g} ms", mapper, budget * 1000) : fmt::format("{} in {:g} s", mapper, budget);
}

bool ExperimentInstance::complete() const {
  return std::all_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.complete(); });
}

Experiment Experiment::of(std::span<const ExperimentRun> runs) {
  Experiment experiment;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers;  // of instances
  std::map<std::pair<std::size_t, std::size_t>, Collected> collected;  // by instance and mapper
  for (const ExperimentRun& run : runs) {
    const auto [number, is_new] = numbers.try_emplace({run.graph, run.machine}, numbers.size());
    if (is_new) experiment.instances.push_back({run.graph, run.machine, run.instance_class, 0, 0, run.best_known, {}});
    ExperimentInstance& instance = experiment.instances[number->second];
    const std::size_t mapper = position_of(experiment.mappers, run.contender());
    if (mapper == experiment.budgets.size()) experiment.budgets.emplace_back(run.mapper, run.budget);
    Collected& cell = collected[{number->second, mapper}];
    if (!run.succeeded()) {
      cell.failed = true;
      ++experiment.failed_runs;
      continue;
    }
    instance.ranks = run.ranks;
    instance.edges = run.edges;
    cell.costs.push_back(run.cost);
    cell.cpu_seconds.push_back(run.cpu_seconds);
  }
  for (ExperimentInstance& instance : experiment.instances) instance.cells.resize(experiment.mappers.size());
  for (const auto& [key, cell] : collected) experiment.instances[key.first].cells[key.second] = cell.cell();
  return experiment;
}

std::optional<std::size_t> Experiment::find_mapper(std::string_view mapper) const {
  const auto found = std::find(mappers.begin(), mappers.end(), mapper);
  if (found == mappers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - mappers.begin());
}

std::vector<std::string> Experiment::classes() const {
  std::vector<std::string> names;
  for (const ExperimentInstance& instance : instances) position_of(names, instance.instance_class);
  return names;
}

std::vector<MapperSummary> summarise_mappers(const Experiment& experiment, std::string_view instance_class,
                                             std::size_t baseline) {
  std::vector<MapperSummary> rows;
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    MapperSummary row{.mapper = experiment.mappers[mapper]};
    std::vector<double> costs, times, cost_ratios, time_ratios;
    for (const ExperimentInstance& instance : experiment.instances) {
      if ((!instance_class.empty() && instance.instance_class != instance_class) || !instance.complete()) continue;
      const Cell &cell = instance.cells[mapper], &reference = instance.cells[baseline];
      costs.push_back(cell.cost);
      times.push_back(cell.cpu_seconds);
      cost_ratios.push_back(ratio(cell.cost, reference.cost));
      time_ratios.push_back(ratio(cell.cpu_seconds, reference.cpu_seconds));
      row.best += std::all_of(instance.cells.begin(), instance.cells.end(),
                              [&](const Cell& other) { return cell.cost <= other.cost; })
                      ? 1
                      : 0;
    }
    row.instances = costs.size();
    if (row.instances > 0) {
      row.cost = geometric_mean(costs);
      row.cpu_seconds = geometric_mean(times);
      row.cost_ratio = geometric_mean(cost_ratios);
      row.cpu_ratio = geometric_mean(time_ratios);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

MapperTest compare_with_baseline(const Experiment& experiment, std::size_t mapper, std::size_t baseline) {
  MapperTest result{.mapper = experiment.mappers[mapper], .test = {}};
  std::vector<double> differences;
  for (const ExperimentInstance& instance : experiment.instances) {
    const Cell &cell = instance.cells[mapper], &reference = instance.cells[baseline];
    if (!cell.complete() || !reference.complete()) continue;
    ++result.instances;
    result.less += cell.cost < reference.cost ? 1 : 0;
    result.more += cell.cost > reference.cost ? 1 : 0;
    differences.push_back(std::log(ratio(cell.cost, reference.cost)));
  }
  result.test = signed_rank_test(differences);
  return result;
}

std::string to_sentence(const MapperTest& test, const std::string& baseline) {
  if (test.instances == 0) return fmt::format("{} and {} have no instance in common", test.mapper, baseline);
  if (test.less == 0 && test.more == 0) {
    return fmt::format("{} costs the same as {} on all {} instances", test.mapper, baseline, test.instances);
  }
  const bool is_less = test.less >= test.more;
  const std::string counts =
      fmt::format("{} costs {} than {} on {} of {} instances", test.mapper, is_less ? "less" : "more", baseline,
                  is_less ? test.less : test.more, test.instances);
  if (test.test.pairs < min_pairs_for(significance_level)) {
    return fmt::format("{}; {} with different costs are too few for a test, which needs {}", counts, test.test.pairs,
                       min_pairs_for(significance_level));
  }
  const std::string p_value =
      test.test.p_value < 0.0001 ? std::string("p < 0.0001") : fmt::format("p = {:.2g}", test.test.p_value);
  if (test.test.p_value > significance_level)
    return fmt::format("{}, which may be chance ({}, effect {:.2f})", counts, p_value, test.test.effect);
  const bool agrees = is_less == (test.test.effect < 0);
  return fmt::format("{} ({}, effect {:.2f}{})", counts, p_value, test.test.effect,
                     agrees ? "" : ": the fewer differences are the larger ones");
}

std::vector<std::pair<std::string, std::vector<ConvergencePoint>>> convergence(const Experiment& experiment) {
  std::vector<std::pair<std::string, std::vector<ConvergencePoint>>> curves;
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    std::vector<double> times, ratios;
    for (const ExperimentInstance& instance : experiment.instances) {
      if (!instance.complete()) continue;
      double lowest = std::numeric_limits<double>::infinity();
      for (const Cell& cell : instance.cells) lowest = std::min(lowest, cell.min_cost);
      times.push_back(instance.cells[mapper].cpu_seconds);
      ratios.push_back(ratio(instance.cells[mapper].cost, lowest));
    }
    const auto& [name, budget] = experiment.budgets[mapper];
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const auto& known) { return known.first == name; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), {name, {}});
    if (!ratios.empty()) curve->second.push_back({geometric_mean(times), geometric_mean(ratios), budget});
  }
  for (auto& [name, points] : curves)
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.budget < b.budget; });
  return curves;
}

std::vector<std::vector<double>> performance_ratios(const Experiment& experiment) {
  std::vector<std::vector<double>> ratios(experiment.mappers.size());
  for (const ExperimentInstance& instance : experiment.instances) {
    double best = std::numeric_limits<double>::infinity();
    for (const Cell& cell : instance.cells) best = std::min(best, cell.cost);
    for (std::size_t mapper = 0; mapper < instance.cells.size(); ++mapper) {
      const Cell& cell = instance.cells[mapper];
      ratios[mapper].push_back(cell.complete() ? ratio(cell.cost, best) : std::numeric_limits<double>::infinity());
    }
  }
  for (auto& of_mapper : ratios) std::sort(of_mapper.begin(), of_mapper.end());
  return ratios;
}

double geometric_mean(std::span<const double> values) {
  assert(!values.empty());
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace rankloom
