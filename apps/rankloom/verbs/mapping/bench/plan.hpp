// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: which runs an experiment consists of, in which order.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/experiment/experiment.hpp"

namespace rankloom::app {

/// A graph and a machine.
struct BenchInstance {
  std::string graph;
  std::string machine;  ///< Empty: the graph contains its distances (QAPLIB).
  std::string instance_class;
  std::optional<BestKnown> best_known = {};
};

struct BenchRun {
  const BenchInstance* instance = nullptr;
  std::string mapper;
  std::uint64_t seed = 0;
  std::optional<std::chrono::milliseconds> budget = {};  ///< One of several; else that of the settings.
};

/// What distinguishes an experiment from another one.
struct BenchSettings {
  std::string model;  ///< Empty: the default of each problem.
  std::uint64_t threads = 1;
  std::optional<std::chrono::milliseconds> budget = {};
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);

  Json json() const;
};

struct BenchPlan {
  std::vector<BenchInstance> instances;
  std::vector<std::string> mappers;
  std::uint64_t first_seed = 0, seeds = 1;
  std::vector<std::chrono::milliseconds> budgets = {};  ///< Every mapper runs with each of them; none: see settings.
  BenchSettings settings;

  /// All mappers of one instance and seed next to each other, so that a change of the machine's speed meets all of
  /// them.
  std::vector<BenchRun> runs() const;
  /// The file experiment.json.
  Json json() const;
  /// Fails if the results of `earlier`, the JSON of another plan, do not belong to this one: it has other settings, or
  /// runs that this one does not have.
  Result<void> check_continues(const Json& earlier, const std::string& file) const;
};

/// What identifies a run in the rows of an experiment.
std::string run_key(const std::string& graph, const std::string& machine, const std::string& mapper, std::uint64_t seed,
                    std::optional<std::chrono::milliseconds> budget);

/// Reads "10ms,100ms,1s": times above 0, ascending.
Result<std::vector<std::chrono::milliseconds>> read_budgets(const std::string& text);

/// Whether the graph is a set of instances, pack:NAME.
bool is_pack(const std::string& graph);

/// Expands pack:NAME; every other graph is combined with every machine. Sets `model` to that of the packs, unless it is
/// given.
Result<std::vector<BenchInstance>> bench_instances(const std::vector<std::string>& graphs,
                                                   const std::vector<std::string>& machines, std::string& model);

/// Each mapper `auto` becomes one for each effort.
std::vector<std::string> with_efforts(const std::vector<std::string>& mappers, const std::vector<std::string>& efforts);

}  // namespace rankloom::app
