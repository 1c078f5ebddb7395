// SPDX-License-Identifier: Apache-2.0
// report/experiment: plots of experiments as SVG files.
#pragma once

#include <string>
#include <vector>

#include "rankloom/evaluate/experiment/experiment.hpp"

namespace rankloom {

struct PlotPoint {
  double x = 0, y = 0;
  std::string about = {};  ///< The tooltip.
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  bool line = false;  ///< Connects the points.
  bool marks = true;  ///< Draws the points.
};

struct PlotAxis {
  std::string title;
  bool logarithmic = false;
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
};

/// A complete SVG file with a legend. Points that the axes cannot show, infinite or not positive on a logarithmic axis,
/// are left out.
std::string to_svg(const Plot& plot);

/// The share of instances on which each mapper is at most t times as expensive as the best one, over t (Dolan and Moré
/// 2002).
Plot performance_profile_plot(const Experiment& experiment);
/// Cost over CPU time, both as ratios to the baseline, one point per mapper; the line connects those that no other
/// mapper beats in both.
Plot pareto_plot(const Experiment& experiment, std::size_t baseline);
/// Cost over CPU time, as a ratio to the lowest cost of each instance; a line connects the budgets of a mapper.
Plot convergence_plot(const Experiment& experiment);
/// CPU time over the number of edges, one point per instance.
Plot scaling_plot(const Experiment& experiment);

}  // namespace rankloom
