// SPDX-License-Identifier: Apache-2.0
// apps: the arguments of every verb that runs mappers, and the running itself.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/run.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// How to run, whatever the mapper.
struct RunArguments {
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;
  std::optional<std::chrono::milliseconds> budget;
  CostModel model = CostModel::bytes;

  void describe(CLI::App& app);
  Deadline deadline() const { return budget ? Deadline::in(*budget) : Deadline(); }
  MapRun run(std::uint64_t with_seed, Progress& progress) const {
    return {.seed = with_seed, .deadline = deadline(), .progress = progress};
  }
};

/// -a, and every option of every mapper as a flag of its own.
struct MapperArguments {
  std::string spec = "auto";
  std::vector<std::pair<std::string, std::string>> own;  ///< Options given as flags, in order.

  void describe(CLI::App& app);
  /// Fails when a flag belongs to other mappers only, and says to which.
  Result<ConfiguredMapper> make() const;
};

/// A placement that a person names: a mapping file, or, when there is no such file, a mapper, which is run. It must fit
/// into `room`.
Result<std::vector<Core>> named_placement(const std::string& name, const Instance& instance, const Capacities& room,
                                          const RunArguments& arguments, Progress& progress);

/// "greedy,pair-exchange:tries=1000,order=turn,mpipp" → three specs: a part that names a mapper begins a new one.
std::vector<std::string> split_mappers(const std::string& list);

}  // namespace rankloom::app
