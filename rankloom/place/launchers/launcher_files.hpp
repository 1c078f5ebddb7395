// SPDX-License-Identifier: Apache-2.0
// place/launchers: what the launchers' rows share: common files, their readers, and commands that follow from a
// placement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/place/launchers.hpp"

namespace rankloom {

using HostNames = std::span<const std::string>;

/// "hosts": one host per line, line i for rank i.
LauncherFile host_of_each_rank(const Deployment& deployment);
/// The error of a file with too few bytes for all ranks below one that it names.
Failure missing_ranks(const FileContents& file, std::uint64_t line, std::uint64_t rank);

/// Appends the binding of `ranks` equal ranks; fails if that makes more ranks than a file can have.
Result<void> append_ranks(const FileContents& file, std::uint64_t line, std::uint32_t ranks,
                          const NamedBinding& binding, std::vector<NamedBinding>& bindings);

/// Reads a list of hosts; a line may also be "host:ranks".
Result<MappingFile> read_hosts(const FileContents& file, const Topology& topology, HostNames hosts);
/// "bind.txt": lines of "rank host cpus", which rankloom-bind reads; with several cores or GPUs per rank "rank host
/// cpus threads 4 gpus 0,1".
LauncherFile binding_table(const Deployment& deployment);

/// The program, after rankloom-bind when it binds the ranks.
Argv wrapped_program(const EmitOptions& options);
std::string number_of_ranks(const Deployment& deployment);

inline bool uses_gpus(const Deployment& deployment) {
  return deployment.shapes.any([](const SlotShape& shape) { return shape.gpus > 0; });
}

/// Consecutive ranks on one host: "2 on node1, 2 on node4, …".
struct HostRun {
  std::string host;
  std::uint32_t ranks = 0;
};
std::vector<HostRun> host_runs(const Deployment& deployment);

/// `emit` for a launcher that is started as {"mpirun"} with "-n RANKS" and the options of its placement.
EmittedLaunch files_of_placement(std::string_view launcher, const Deployment& deployment, const EmitOptions& options,
                                 LaunchPlacement placement);
/// These files and this command; with binding, rankloom-bind and its table.
EmittedLaunch files_with_wrapper(std::vector<LauncherFile> files, EmittedCommand command, const Deployment& deployment,
                                 const EmitOptions& options);

/// Adds an option in front of those of a program.
void add_option(LaunchedProgram& program, Argv arguments);
/// Adds an option after those of a program, before a "--" that ends them.
void append_option(LaunchedProgram& program, LaunchOption option);

/// Whether the predicate holds for one of the names of a list.
template <class Predicate>
bool any_name(std::string_view names, Predicate matches, char separator = ' ') {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(separator));
    if (matches(name)) return true;
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return false;
}

inline bool is_one_of(std::string_view names, std::string_view name) {
  return any_name(names, [&](std::string_view other) { return other == name; });
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The parts of a text in lower case: "PE=4,core" → "pe=4", "core".
std::vector<std::string> split_lower(std::string_view text, std::string_view separators);
/// The number from 1 on that follows the prefix; nothing if the text is anything else.
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view prefix);

}  // namespace rankloom
