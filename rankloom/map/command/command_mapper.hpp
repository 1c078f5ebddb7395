// SPDX-License-Identifier: Apache-2.0
// map/command: mappers that are not in the table: a program (exec:COMMAND) and a mapping file (file:FILE).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// What the program provides for its external mappers.
struct CommandMapperSettings {
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);  ///< The command is killed afterwards.
  /// Writes a graph in a format of `rankloom list formats`: metis, pairs or matrix-market.
  std::function<Result<void>(const CommGraph& graph, std::string_view format, const std::string& path)> write_graph;
};

inline constexpr std::string_view command_prefix = "exec:", given_prefix = "file:";

/// A mapper that runs a command in a shell and reads one core number per line. Fails for unknown placeholders.
Result<ConfiguredMapper> make_command_mapper(std::string_view spec, CommandMapperSettings settings);

/// A mapper whose result is MapProblem::start, which the caller reads from the file.
ConfiguredMapper make_given_mapper(std::string_view spec);

/// The machine as in the partitioning literature, from the lowest level up: "4:8:6" and "1:10:100". Fails if it is not
/// a tree with equal parts.
struct HierarchyText {
  std::string hierarchy, distance;
};
Result<HierarchyText> hierarchy_text(const Topology& topology);

/// The graph with both directions added up and integral weights whose sum 32-bit numbers can represent, for programs
/// that read METIS files. Weights that are small integers stay as they are.
CommGraph integral_graph(const CommGraph& graph);

}  // namespace rankloom
