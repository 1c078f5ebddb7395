// SPDX-License-Identifier: Apache-2.0
// report/experiment: what the plots of an experiment show.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/experiment/plot.hpp"

namespace rankloom {

Plot performance_profile_plot(const Experiment& experiment) {
  const auto ratios = performance_ratios(experiment);
  double last = 1;  // the largest finite ratio
  for (const auto& of_mapper : ratios)
    for (const double ratio : of_mapper)
      if (std::isfinite(ratio)) last = std::max(last, ratio);
  last = std::max(1.01, last);
  Plot plot{"Performance profile of the costs",
            {"at most this many times the lowest cost", last > 4},
            {"share of the instances"},
            {}};
  for (std::size_t mapper = 0; mapper < ratios.size(); ++mapper) {
    PlotSeries series{experiment.mappers[mapper], {}, true, false};
    const auto all = static_cast<double>(ratios[mapper].size());
    double share = 0;
    series.points.push_back({1, 0});
    for (const double ratio : ratios[mapper]) {
      if (!std::isfinite(ratio)) break;
      series.points.push_back({ratio, share});  // a step
      share += 1 / all;
      series.points.push_back({ratio, share});
    }
    series.points.push_back({last, share});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot pareto_plot(const Experiment& experiment, std::size_t baseline) {
  Plot plot{"Cost and CPU time, geometric means",
            {fmt::format("CPU time relative to {}", experiment.mappers[baseline]), true},
            {fmt::format("cost relative to {}", experiment.mappers[baseline])},
            {}};
  auto rows = summarise_mappers(experiment, "", baseline);
  for (const MapperSummary& row : rows) {
    if (row.instances == 0) continue;
    plot.series.push_back(
        {row.mapper,
         {{row.cpu_ratio, row.cost_ratio,
           fmt::format("{}: cost {}, CPU time {}", row.mapper, factor(row.cost_ratio), factor(row.cpu_ratio))}}});
  }
  std::sort(rows.begin(), rows.end(), [](const MapperSummary& a, const MapperSummary& b) {
    return a.cpu_ratio != b.cpu_ratio ? a.cpu_ratio < b.cpu_ratio : a.cost_ratio < b.cost_ratio;
  });
  PlotSeries front{"not beaten in both", {}, true, false};
  double lowest = std::numeric_limits<double>::infinity();
  for (const MapperSummary& row : rows) {
    if (row.instances == 0 || row.cost_ratio >= lowest) continue;
    lowest = row.cost_ratio;
    front.points.push_back({row.cpu_ratio, row.cost_ratio});
  }
  if (front.points.size() > 1) plot.series.push_back(std::move(front));
  return plot;
}

Plot convergence_plot(const Experiment& experiment) {
  Plot plot{"Convergence: cost over CPU time, geometric means",
            {"CPU time in seconds", true},
            {"cost relative to the lowest one"},
            {}};
  for (auto& [mapper, points] : convergence(experiment)) {
    PlotSeries series{mapper, {}, points.size() > 1};
    for (const ConvergencePoint& point : points) {
      const std::string budget = point.budget > 0 ? fmt::format(" in {}", format_seconds(point.budget)) : std::string();
      series.points.push_back({point.cpu_seconds, point.cost_ratio,
                               fmt::format("{}{}: cost {}, CPU time {}", mapper, budget, factor(point.cost_ratio),
                                           format_seconds(point.cpu_seconds))});
    }
    if (!series.points.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot scaling_plot(const Experiment& experiment) {
  Plot plot{"CPU time over the size of the graph", {"edges", true}, {"CPU time in seconds", true}, {}};
  for (std::size_t mapper = 0; mapper < experiment.mappers.size(); ++mapper) {
    PlotSeries series{experiment.mappers[mapper], {}};
    for (const ExperimentInstance& instance : experiment.instances) {
      const Cell& cell = instance.cells[mapper];
      if (!cell.complete()) continue;
      series.points.push_back({static_cast<double>(instance.edges), cell.cpu_seconds,
                               fmt::format("{}: {} on {}, {}", experiment.mappers[mapper], instance.graph,
                                           instance.machine, format_seconds(cell.cpu_seconds))});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace rankloom
