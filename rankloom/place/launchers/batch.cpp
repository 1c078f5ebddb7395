// SPDX-License-Identifier: Apache-2.0
// place: LSF, PBS and Fujitsu MPI: launchers that are told when the job is submitted.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/core/shell_word.hpp"
#include "rankloom/model/network/networks.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

/// qsub runs a program without shell, search path and folder, so a script gives it those. The list is named because
/// mpirun's own reading of it may drop repeated hosts.
std::string pbs_script(const Deployment& deployment, const EmitOptions& options) {
  std::string text =
      fmt::format("#!/bin/sh\ncd \"$PBS_O_WORKDIR\" &&\nexec mpiexec -n {} -machinefile \"$PBS_NODEFILE\"",
                  number_of_ranks(deployment));
  for (const std::string& word : wrapped_program(options)) text += " " + shell_word(word);
  return text + "\n";
}

/// Sizes of the mesh or torus that wires the nodes, x first; one dimension for any other machine.
std::vector<std::uint32_t> dimensions(const Topology& topology) {
  if (topology.routed()) {
    if (const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
        mesh != nullptr && mesh->sizes.size() <= 3)
      return {mesh->sizes.rbegin(), mesh->sizes.rend()};
  }
  return {topology.node_count()};
}

}  // namespace

/// As many hosts as groups, each with room for the largest: left alone, LSF may put all slots on one host, and then no
/// geometry fits.
Result<LaunchFiles> write_lsf(const Deployment& deployment, const EmitOptions& options) {
  std::string geometry = "{";
  std::size_t groups = 0;
  std::size_t largest = 0;
  for (const auto& ranks : deployment.ranks_of_nodes()) {
    if (ranks.empty()) continue;
    ++groups;
    largest = std::max(largest, ranks.size());
    geometry += "(";
    for (std::size_t i = 0; i < ranks.size(); ++i)
      fmt::format_to(std::back_inserter(geometry), "{}{}", i > 0 ? "," : "", index(ranks[i]));
    geometry += ")";
  }
  geometry += "}";
  LauncherCommand command{{fmt::format("LSB_TASK_GEOMETRY={}", geometry)},
                          {"bsub", "-n", fmt::format("{}", groups * largest), "-R",
                           fmt::format("span[ptile={}]", largest), "mpirun", "-n", number_of_ranks(deployment)}};
  const Argv program = wrapped_program(options);
  command.words.insert(command.words.end(), program.begin(), program.end());
  LaunchFiles result{{{"geometry", geometry + "\n"}}, {std::move(command)}};
  if (options.bind == EmitOptions::Bind::core) result.files.push_back(binding_table(deployment));
  return result;
}

/// The groups are the nodes in order, as far as they hold ranks; which cores, the file does not say.
Result<std::vector<Core>> read_lsf(const FileContents& file, const Topology& topology, Hosts hosts) {
  const auto bad = [&](std::string what) {
    return fail(Code::bad_input, at(file.name()), std::move(what), "a geometry reads: {(2,5,7)(0,6)(1,3,4)}");
  };
  std::vector<NamedSeat> seats;
  std::string_view text = file.view();
  const std::size_t open = text.find('{');
  const std::size_t close = text.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return bad("there are no { }");
  text = text.substr(open + 1, close - open - 1);
  std::uint32_t node = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(')');
    if (text[0] != '(' || end == std::string_view::npos) return bad("a group is not closed");
    if (node >= topology.node_count()) return bad("there are more groups than the machine has nodes");
    const std::string host = hosts.empty() ? topology.node_name(Node{node}) : hosts[node];
    for (const char* at = text.data() + 1; at < text.data() + end;) {
      std::uint32_t rank = 0;
      const auto [behind, error] = std::from_chars(at, text.data() + end, rank);
      if (error != std::errc() || rank > (1U << 24) || (behind != text.data() + end && *behind != ','))
        return bad("a group holds something else than ranks");
      if (rank >= seats.size()) seats.resize(rank + 1);
      if (!seats[rank].host.empty()) return bad(fmt::format("rank {} stands in two groups", rank));
      seats[rank].host = host;
      at = behind + 1;
    }
    text.remove_prefix(end + 1);
    ++node;
  }
  const auto missing =
      std::find_if(seats.begin(), seats.end(), [](const NamedSeat& seat) { return seat.host.empty(); });
  if (missing != seats.end()) return bad(fmt::format("rank {} is in no group", missing - seats.begin()));
  return cores_of_seats(seats, topology, hosts, file.name());
}

Result<LaunchFiles> write_pbs(const Deployment& deployment, const EmitOptions& options) {
  std::string select = "select=";
  for (const HostRun& run : host_runs(deployment)) {
    fmt::format_to(std::back_inserter(select), "{}1:ncpus={}:mpiprocs={}:host={}", select.ends_with('=') ? "" : "+",
                   run.ranks, run.ranks, run.host);
  }
  LaunchFiles result{{host_of_each_rank(deployment), {"job.sh", pbs_script(deployment, options)}},
                     {{{}, {"qsub", "-l", select, "-l", "place=free", options.path("job.sh")}}}};
  if (options.bind == EmitOptions::Bind::core) result.files.push_back(binding_table(deployment));
  return result;
}

Result<LaunchFiles> write_fujitsu(const Deployment& deployment, const EmitOptions& options) {
  const auto sizes = dimensions(deployment.topology);
  std::string text;
  for (const Seat& seat : deployment.seats) {
    std::uint32_t rest = index(seat.node);
    text += "(";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? "," : "", rest % sizes[i]);
      rest /= sizes[i];
    }
    text += ")\n";
  }
  LauncherCommand command{{},
                          {"mpiexec", "-n", number_of_ranks(deployment), "--vcoordfile", options.path("vcoordfile")}};
  const Argv program = wrapped_program(options);
  command.words.insert(command.words.end(), program.begin(), program.end());
  LaunchFiles result{{{"vcoordfile", std::move(text)}}, {std::move(command)}};
  if (options.bind == EmitOptions::Bind::core) result.files.push_back(binding_table(deployment));
  return result;
}

Result<std::vector<Core>> read_fujitsu(const FileContents& file, const Topology& topology, Hosts hosts) {
  const auto sizes = dimensions(topology);
  std::vector<NamedSeat> seats;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    if (text.empty()) continue;
    const auto bad = [&] {
      return fail(Code::bad_input, at(file.name(), number),
                  fmt::format("\"{}\" is no coordinate of this machine", text.substr(0, 40)),
                  fmt::format("a line has {} numbers in parentheses, below the sizes of the machine", sizes.size()));
    };
    if (!text.starts_with('(') || !text.ends_with(')')) return bad();
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size() - 1;
    std::uint64_t node = 0;
    std::uint64_t stride = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::uint32_t value = 0;
      const auto [behind, error] = std::from_chars(at, end, value);
      const bool last = i + 1 == sizes.size();
      if (error != std::errc() || value >= sizes[i] || (last ? behind != end : behind == end || *behind != ','))
        return bad();
      node += value * stride;
      stride *= sizes[i];
      at = behind + 1;
    }
    const Node found{static_cast<std::uint32_t>(node)};
    seats.push_back({hosts.empty() ? topology.node_name(found) : hosts[index(found)], std::nullopt});
  }
  return cores_of_seats(seats, topology, hosts, file.name());
}

}  // namespace rankloom
