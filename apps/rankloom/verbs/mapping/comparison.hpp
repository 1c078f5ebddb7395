// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: the results of several mappers on one problem, as text, JSON and CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom::app {

/// The results of one mapper over all its runs.
struct ComparedMapper {
  std::string mapper;
  std::vector<double> costs, times_ms;
  Sample cost, time_ms;
  std::string note;
  bool bounded = true;  ///< The lower bound holds, because the mapper respects the capacities.
};

struct SkippedMapper {
  std::string mapper, why;
};

/// The results of all mappers on one problem, with its own default placement and lower bound.
struct MapperComparison {
  Json about;            ///< What ProblemArguments::json() says.
  std::string size;      ///< "6 ranks on 6 cores"
  std::string next_map;  ///< The command that maps this problem, without the mapper: "app.prof -t cluster.json".
  std::string next_run;  ///< The options of the run: " --seed 1".
  CostModel model = CostModel::bytes;
  std::uint64_t seed = 0, runs = 1;
  double cost_default = 0;
  std::optional<double> bound = {};
  std::vector<ComparedMapper> rows = {};
  std::vector<SkippedMapper> skipped = {};

  /// Keeps the tightest of the lower bounds that mappers and lower_bound() report.
  void tighten(double value);
  /// Sorts the rows by cost and drops a bound that says nothing.
  void finish();

  Json json() const;
  std::string text(std::size_t width) const;
  /// One line per run, without a heading.
  std::string csv() const;

 private:
  bool has_gap(const ComparedMapper& row) const { return bound && row.bounded; }
  double gain(const ComparedMapper& row) const;
  std::string table(std::size_t width) const;
  std::string verdict() const;
};

inline constexpr const char* comparison_csv_heading =
    "profile,topology,model,ranks,cores,mapper,seed,cost,cost_default,lower_bound,time_ms\n";

}  // namespace rankloom::app
