// SPDX-License-Identifier: Apache-2.0
// bench/auto: shared code of the benchmarks of the default mapper `auto`: problems, timed runs of a mapper, means,
// table cells, and the command line.
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

/// A graph and a machine: the input of a mapper.
struct Problem {
  std::string name;
  CommGraph graph;
  Topology machine;
  Capacities capacities;

  MapProblem view() const {
    return {.graph = graph, .topology = machine, .capacities = capacities, .model = CostModel::bytes, .start = {}};
  }
};

/// The machine is given as in the partitioning literature, bottom up. Exits with an error message if it is malformed or
/// too small for the ranks.
Problem problem_on(std::string name, CommGraph graph, std::string_view hierarchy, std::string_view distance,
                   Capacities::Options capacities = {});
/// The same on a machine of `rankloom map -t`.
Problem problem_on(std::string name, CommGraph graph, const std::string& topology, Capacities::Options capacities);

struct Measured {
  double cost = 0;   ///< J of the mapper's result, which was checked to be valid.
  double cpu_s = 0;  ///< CPU time of the process during place(); the median of several runs.
  double wall_s = 0;
  std::optional<double> peak_bytes;  ///< Memory of place() in addition to its problem, if measured.
  std::vector<Core> core_of;
};

struct Runs {
  std::uint64_t seed = 0;
  std::chrono::milliseconds budget{0};  ///< 0: none.
  int max_runs = 9;                     ///< Short runs are repeated until they took `enough_s` together.
  double enough_s = 0.3;
  bool with_memory = false;  ///< Also measure the memory; place() then asks the system for all of it again.
};

/// `spec`: a mapper with options, or "scotch-exact". Returns nullopt, with a message on stderr, if there is no such
/// mapper or its result is invalid.
std::optional<Measured> measure(const std::string& spec, const Problem& problem, const Runs& runs = {});

double cpu_seconds();
double wall_seconds();
/// "1.023", "-" for none.
std::string cell(std::optional<double> value, int decimals = 3);
/// The ratio of the costs, of the CPU times, and of a cost to a known cost; nullopt if a value is missing.
std::optional<double> ratio(const std::optional<Measured>& a, const std::optional<Measured>& b);
std::optional<double> time_ratio(const std::optional<Measured>& a, const std::optional<Measured>& b);
std::optional<double> against(const std::optional<Measured>& measured, std::optional<double> known);
/// "394240 (.016)", "-" for none.
std::string cost_and_time(const std::optional<Measured>& measured);

/// Ratios collected row by row under a name. If one of them could not be measured, its name has no mean, so that
/// missing rows are not ignored silently.
class Gathered {
 public:
  void note(const std::string& name, std::optional<double> value) { values_[name].push_back(value); }
  std::optional<double> mean(const std::string& name) const;  ///< Geometric.
  std::optional<double> worst(const std::string& name) const;

 private:
  std::optional<std::vector<double>> complete(const std::string& name) const;
  std::map<std::string, std::vector<std::optional<double>>> values_;
};

/// "--only rgg.1024 --quick a": options with a value, flags, and positional arguments.
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
/// Prints one line per spec; for the development of mappers.
void try_specs(const Problem& problem, std::span<const std::string> specs, std::optional<double> best,
               const Runs& runs);
/// The runs according to --run-seed and --budget (seconds).
Runs runs_of(const Arguments& arguments);

}  // namespace rankloom::bench
