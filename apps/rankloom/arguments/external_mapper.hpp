// SPDX-License-Identifier: Apache-2.0
// apps/arguments: mappers that are not in the table: -a exec:COMMAND runs a program, -a file:FILE reads a mapping.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/map/mapper.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

struct ExternalArguments {
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);

  /// --time-limit
  void describe(CLI::App& app);
};

bool is_external(std::string_view spec);

/// A mapper of the table, a program or a mapping file.
Result<ConfiguredMapper> make_any_mapper(std::string_view spec, const ExternalArguments& external);

/// The placement in the file of -a file:FILE; empty for every other mapper.
Result<std::vector<Core>> given_start(const ConfiguredMapper& mapper, const Instance& instance);

}  // namespace rankloom::app
