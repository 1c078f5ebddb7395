// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the options of every verb that runs mappers, and placements given by name.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/external_mapper.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/run.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// Options that apply to every mapper.
struct RunArguments {
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;
  std::optional<std::chrono::milliseconds> budget;
  CostModel model = CostModel::predicted;
  bool model_is_given = false;  ///< By --model.

  void describe(CLI::App& app);
  /// Without --model, takes the one for this problem.
  void choose_model(const ProblemArguments& problem, const Instance& instance);
  /// The options that differ from their default, for printed commands: " --seed 1 --model time". Not --threads, which
  /// does not change the result.
  std::string command_line() const;
  /// ", at most 2 s": the time limit, for the name of a stage in progress reports; empty: none.
  std::string limit_text() const;
  Deadline deadline() const { return budget ? Deadline::in(*budget) : Deadline(); }
  MapRun run(std::uint64_t with_seed, Progress& progress) const {
    return {.seed = with_seed, .deadline = deadline(), .progress = progress};
  }
};

/// -a, and one option for each option of each mapper.
struct MapperArguments {
  std::string spec = "auto";
  std::vector<std::pair<std::string, std::string>>
      flags;  ///< Options of the mapper that were given as flags, in order.
  ExternalArguments external = {};

  void describe(CLI::App& app);
  /// Fails if a flag belongs to other mappers only; the error names them.
  Result<ConfiguredMapper> make() const;
};

/// The placement in a mapping file, which must fit into `capacities`.
Result<std::vector<Core>> placement_of_file(const std::string& path, const Instance& instance,
                                            const Capacities& capacities);
/// The placement in a mapping file, or, if there is no such file, the one that the mapper of this name finds. It must
/// fit into `capacities`.
Result<std::vector<Core>> named_placement(const std::string& name, const Instance& instance,
                                          const Capacities& capacities, const RunArguments& arguments,
                                          Progress& progress);
/// The same for a mapping that is only evaluated: with --oversubscribe it may have any number of ranks on a core.
Result<std::vector<Core>> given_placement(const std::string& name, const Instance& instance,
                                          const Capacities::Options& fit, const RunArguments& arguments,
                                          Progress& progress);

/// Splits a list at the commas before names of mappers: "greedy,pair-exchange:tries=1000,order=turn,mpipp" has three.
/// Everything after exec: belongs to its command.
std::vector<std::string> split_mappers(const std::string& list);

}  // namespace rankloom::app
