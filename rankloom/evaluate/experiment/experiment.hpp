// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: an experiment with mappers: its runs, and what they say about each mapper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/evaluate/experiment/signed_rank_test.hpp"

namespace rankloom {

struct BestKnown {
  double cost = 0;
  std::string found_by;
};

/// One run of one mapper on one instance with one seed.
struct ExperimentRun {
  std::string graph, machine, mapper;
  std::string instance_class;  ///< "stencil3d", "torus": instances that are summarised together.
  std::uint64_t seed = 0;
  double budget = 0;       ///< The time that the mapper was given, in seconds; 0: as much as it needs.
  std::string error = {};  ///< Empty: it succeeded.
  double cost = 0;
  double seconds = 0, cpu_seconds = 0;  ///< Of the process.
  double peak_bytes = 0;
  std::uint64_t ranks = 0, edges = 0;
  std::optional<BestKnown> best_known = {};

  bool succeeded() const { return error.empty(); }
  /// "auto", "auto in 100 ms".
  std::string contender() const;
};

/// A mapper on an instance: geometric means over its seeds. Infinite if a run failed or is missing.
struct Cell {
  double cost = std::numeric_limits<double>::infinity();
  double cpu_seconds = std::numeric_limits<double>::infinity();
  double min_cost = std::numeric_limits<double>::infinity();
  bool complete() const { return cost < std::numeric_limits<double>::infinity(); }
};

struct ExperimentInstance {
  std::string graph, machine, instance_class;
  std::uint64_t ranks = 0, edges = 0;
  std::optional<BestKnown> best_known = {};
  std::vector<Cell> cells;  ///< By mapper.
  /// All mappers have a result.
  bool complete() const;
};

/// Runs by instance and mapper.
struct Experiment {
  std::vector<std::string> mappers;  ///< In the order of their first run; one with several budgets, once for each.
  /// By mapper: its name without the budget, and the budget in seconds.
  std::vector<std::pair<std::string, double>> budgets;
  std::vector<ExperimentInstance> instances;
  std::size_t failed_runs = 0;

  static Experiment of(std::span<const ExperimentRun> runs);
  std::optional<std::size_t> find_mapper(std::string_view mapper) const;
  /// In the order of their first instance.
  std::vector<std::string> classes() const;
};

/// A mapper over the complete instances of a class.
struct MapperSummary {
  std::string mapper;
  double cost = 0, cpu_seconds = 0;      ///< Geometric means over the instances.
  double cost_ratio = 1, cpu_ratio = 1;  ///< To the baseline: geometric means of the ratios.
  std::size_t instances = 0, best = 0;   ///< On how many instances there is a result, and it costs least.
};

/// One row per mapper over the instances of this class, "" for all classes, that every mapper solved.
std::vector<MapperSummary> summarise_mappers(const Experiment& experiment, std::string_view instance_class,
                                             std::size_t baseline);

/// The comparison of a mapper with the baseline, instance by instance.
struct MapperTest {
  std::string mapper;
  std::size_t instances = 0, less = 0, more = 0;  ///< On how many both have a result, this one costs less, costs more.
  SignedRankTest test;                            ///< Of the logarithms of the ratios of the costs.
};
MapperTest compare_with_baseline(const Experiment& experiment, std::size_t mapper, std::size_t baseline);
/// "metis costs less than block on 21 of 24 instances (p = 0.0003)", or why nothing can be said.
std::string to_sentence(const MapperTest& test, const std::string& baseline);

/// By mapper: the ratios of its costs to the lowest cost of the instance, ascending; infinite where it has no result.
/// The share of ratios up to t is the performance profile (Dolan and Moré 2002).
std::vector<std::vector<double>> performance_ratios(const Experiment& experiment);

/// One point of the convergence of a mapper: geometric means over the instances that every mapper solved.
struct ConvergencePoint {
  double cpu_seconds = 0;
  double cost_ratio = 1;  ///< To the lowest cost of the instance by any mapper, budget and seed.
  double budget = 0;
};
/// By mapper, without the budget: one point for each budget, by increasing budget; none without a complete instance.
std::vector<std::pair<std::string, std::vector<ConvergencePoint>>> convergence(const Experiment& experiment);

/// exp of the mean of the logarithms; 0 if one of the values is 0. Precondition: at least one value.
double geometric_mean(std::span<const double> values);

}  // namespace rankloom
