// SPDX-License-Identifier: Apache-2.0
// Tests of report/experiment: tables and plots of an experiment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/experiment/experiment_tables.hpp"
#include "rankloom/report/experiment/plot.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<ExperimentRun> two_runs() {
  ExperimentRun base{.graph = "gen:ring:ranks=4,shuffle",
                     .machine = "core:4",
                     .mapper = "base_1",
                     .instance_class = "ring",
                     .seed = 0,
                     .cost = 200,
                     .seconds = 0.5,
                     .cpu_seconds = 0.25,
                     .peak_bytes = 1024,
                     .ranks = 4,
                     .edges = 8,
                     .best_known = BestKnown{150, "a stranger"}};
  ExperimentRun other = base;
  other.mapper = "other";
  other.cost = 100;
  other.cpu_seconds = 1;
  return {base, other};
}

TEST(ExperimentTables, ShowMeansAndRatios) {
  const std::string text = experiment_text(Experiment::of(two_runs()), 0, unlimited_width);
  EXPECT_THAT(text, HasSubstr("all: 1 instance\n"));
  EXPECT_THAT(text, HasSubstr("0.500"));
  EXPECT_THAT(text, HasSubstr("4.000"));
  EXPECT_THAT(text, HasSubstr("other costs less than base_1 on 1 of 1 instances; 1 with different costs"));
}

TEST(ExperimentTables, ShowPredictedTimes) {
  auto runs = two_runs();
  for (ExperimentRun& run : runs) run.cost *= 1e-7;
  EXPECT_THAT(experiment_text(Experiment::of(runs), 0, unlimited_width), HasSubstr("2e-05"));
  EXPECT_THAT(leaderboard_text(Experiment::of(runs), unlimited_width), HasSubstr("1e-05"));
}

TEST(ExperimentTables, MarkABetterCostThanTheBestKnown) {
  const std::string leaderboard = leaderboard_text(Experiment::of(two_runs()), unlimited_width);
  EXPECT_THAT(leaderboard, HasSubstr("a stranger  better than the best known"));
  auto runs = two_runs();
  runs[1].cost = 150;
  EXPECT_THAT(leaderboard_text(Experiment::of(runs), unlimited_width), HasSubstr("equal"));
}

TEST(ExperimentTables, EscapeLatexAndQuoteCsv) {
  EXPECT_THAT(experiment_latex(Experiment::of(two_runs()), 0), HasSubstr("base\\_1 & 200 & 1.000 & 0.25 & 1.000"));
  auto runs = two_runs();
  runs[1].error = "status 3: \"x\"";
  const std::string csv = experiment_csv(runs);
  EXPECT_THAT(csv, HasSubstr("\n\"gen:ring:ranks=4,shuffle\",core:4,ring,base_1,0,4,8,200,0.25,0.5,1024,\n"));
  EXPECT_THAT(csv, HasSubstr(",other,0,,,,,,,\"status 3: \"\"x\"\"\"\n"));
}

TEST(Plots, AreCompleteSvgFiles) {
  const Experiment experiment = Experiment::of(two_runs());
  for (const Plot& plot : {performance_profile_plot(experiment), pareto_plot(experiment, 0),
                           convergence_plot(experiment), scaling_plot(experiment)}) {
    const std::string svg = to_svg(plot);
    EXPECT_THAT(svg, StartsWith("<svg "));
    EXPECT_THAT(svg, HasSubstr("base_1"));
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(Plots, DrawTheProfileAsSteps) {
  const Plot plot = performance_profile_plot(Experiment::of(two_runs()));
  ASSERT_EQ(plot.series.size(), 2U);
  const auto& base = plot.series[0].points;  // 0 up to twice the lowest cost, then 1
  EXPECT_NEAR(base[1].x, 2, 1e-9);
  EXPECT_EQ(base[1].y, 0);
  EXPECT_EQ(base[2].y, 1);
  EXPECT_NEAR(plot.series[1].points[2].x, 1, 1e-9);
  EXPECT_EQ(plot.series[1].points[2].y, 1);
}

TEST(Plots, ConnectTheBudgetsOfAMapper) {
  auto runs = two_runs();
  runs[1].mapper = "base_1";
  runs[0].budget = 0.01;
  runs[1].budget = 1;
  const Plot plot = convergence_plot(Experiment::of(runs));
  ASSERT_EQ(plot.series.size(), 1U);
  EXPECT_TRUE(plot.series[0].line);
  ASSERT_EQ(plot.series[0].points.size(), 2U);
  EXPECT_EQ(plot.series[0].points[0].x, 0.25);
  EXPECT_NEAR(plot.series[0].points[0].y, 2, 1e-9);
  EXPECT_NEAR(plot.series[0].points[1].y, 1, 1e-9);
  EXPECT_FALSE(convergence_plot(Experiment::of(two_runs())).series[0].line);
}

TEST(Plots, LeaveOutWhatAnAxisCannotShow) {
  Plot plot{"t", {"x", true}, {"y", true}, {{"s", {{0, 1}, {1, 1}, {10, 100}}, false, true}}};
  const std::string svg = to_svg(plot);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  plot.series.clear();
  EXPECT_THAT(to_svg(plot), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace rankloom
