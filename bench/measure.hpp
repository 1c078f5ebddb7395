// SPDX-License-Identifier: Apache-2.0
// bench: what the benchmarks of the flagship mapper share: a problem, one mapper's run on it with its CPU time, means,
// table cells, and the words of the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom::bench {

/// A graph on a machine; what a mapper is given.
struct Problem {
  std::string name;
  CommGraph graph;
  Topology machine;
  Capacities capacities;

  MapProblem view() const {
    return {.graph = graph, .topology = machine, .capacities = capacities, .model = CostModel::bytes, .start = {}};
  }
};

/// The machine in the notation of the partitioning literature, bottom up. Ends the program with the error of a wrong
/// one, or of ranks that do not fit.
Problem problem_on(std::string name, CommGraph graph, std::string_view hierarchy, std::string_view distance,
                   Capacities::Options capacities = {});

struct Measured {
  double cost = 0;   ///< J of the mapper's own result, checked to be valid.
  double cpu_s = 0;  ///< Of the process while place() ran; the median where it ran several times.
  double wall_s = 0;
  std::vector<Core> core_of;
};

struct Runs {
  std::uint64_t seed = 0;
  std::chrono::milliseconds budget{0};  ///< 0: none.
  int most = 9;                         ///< Short runs are repeated until they took `enough_s` together.
  double enough_s = 0.3;
};

/// The spec of a mapper, or "scotch-exact". None, with a word on stderr, when there is no such mapper or its result is
/// invalid.
std::optional<Measured> measure(const std::string& spec, const Problem& problem, const Runs& runs = {});

double cpu_seconds();
double wall_seconds();
/// "1.023", "-" for none.
std::string cell(std::optional<double> value, int decimals = 3);
/// Of the costs, of the CPU times, of a cost to a known one; none where one of both is missing.
std::optional<double> ratio(const std::optional<Measured>& a, const std::optional<Measured>& b);
std::optional<double> time_ratio(const std::optional<Measured>& a, const std::optional<Measured>& b);
std::optional<double> against(const std::optional<Measured>& measured, std::optional<double> known);
/// "394240 (.016)", "-" for none.
std::string cost_and_time(const std::optional<Measured>& measured);

/// Ratios gathered row by row under a name. One that could not be measured leaves its name without a figure, so that no
/// row is passed over in silence.
class Gathered {
 public:
  void note(const std::string& name, std::optional<double> value) { values_[name].push_back(value); }
  std::optional<double> mean(const std::string& name) const;  ///< Geometric.
  std::optional<double> worst(const std::string& name) const;

 private:
  std::optional<std::vector<double>> complete(const std::string& name) const;
  std::map<std::string, std::vector<std::optional<double>>> values_;
};

/// "--only rgg.1024 --quick a": options with a value, switches, and plain words.
class Arguments {
 public:
  Arguments(int count, char** words) : words_(words + 1, words + count) {}
  bool has(std::string_view flag) const;
  std::string value(std::string_view flag, std::string_view otherwise = "") const;
  std::vector<std::string> list(std::string_view flag, std::string_view otherwise = "") const;
  std::uint64_t number(std::string_view flag, std::uint64_t otherwise) const;

 private:
  std::vector<std::string> words_;
};

/// One line: J, J / best where there is a best, CPU seconds.
void print_row(const std::string& name, const std::string& spec, const std::optional<Measured>& measured,
               std::optional<double> best);
/// A line for each spec; for somebody who works on a mapper.
void try_specs(const Problem& problem, std::span<const std::string> specs, std::optional<double> best,
               const Runs& runs);
/// The runs that --run-seed and --budget (seconds) ask for.
Runs runs_of(const Arguments& arguments);

}  // namespace rankloom::bench
