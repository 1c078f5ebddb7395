// SPDX-License-Identifier: Apache-2.0
// place/launchers: LSF, PBS and Fujitsu MPI, which receive the placement when the job is submitted.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "rankloom/core/system/process.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

/// qsub starts a program without a shell, a search path and the working directory, so a script provides them. The
/// script names the list of hosts, because mpirun may drop repeated hosts when it reads the list itself.
std::string pbs_script(const Deployment& deployment, const EmitOptions& options) {
  std::string text =
      fmt::format("#!/bin/sh\ncd \"$PBS_O_WORKDIR\" &&\nexec mpiexec -n {} -machinefile \"$PBS_NODEFILE\"",
                  number_of_ranks(deployment));
  for (const std::string& argument : wrapped_program(options)) text += " " + shell_quote(argument);
  return text + "\n";
}

/// Sizes of the mesh or torus between the nodes, x first; one dimension for any other machine.
std::vector<std::uint32_t> dimensions(const Topology& topology) {
  if (topology.routed()) {
    if (const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
        mesh != nullptr && mesh->sizes.size() <= 3)
      return {mesh->sizes.rbegin(), mesh->sizes.rend()};
  }
  return {topology.node_count()};
}

/// Requests as many hosts as there are groups, each with slots for the largest group. Without this request LSF may put
/// all slots on one host, and no geometry fits.
Result<EmittedLaunch> write_lsf(const Deployment& deployment, const EmitOptions& options) {
  std::string geometry = "{";
  std::size_t groups = 0;
  std::size_t largest = 0;
  for (const auto& ranks : deployment.ranks_of_nodes()) {
    if (ranks.empty()) continue;
    ++groups;
    // If ranks differ, a slot of LSF is a core instead of a rank.
    std::size_t slots = deployment.shapes.differ() ? 0 : ranks.size();
    for (const Rank rank : ranks) slots += deployment.shapes.differ() ? deployment.shapes.of(rank).cores : 0;
    largest = std::max(largest, slots);
    geometry += "(";
    for (std::size_t i = 0; i < ranks.size(); ++i)
      fmt::format_to(std::back_inserter(geometry), "{}{}", i > 0 ? "," : "", index(ranks[i]));
    geometry += ")";
  }
  geometry += "}";
  std::string requirement = fmt::format("span[ptile={}]", largest);
  if (const SlotShapes& shapes = deployment.shapes; !shapes.differ() && shapes.common().cores > 1)
    requirement += fmt::format(" affinity[core({})]", shapes.common().cores);
  EmittedCommand command{{fmt::format("LSB_TASK_GEOMETRY={}", geometry)},
                         {"bsub"},
                         {"-n", fmt::format("{}", groups * largest), "-R", std::move(requirement), "mpirun", "-n",
                          number_of_ranks(deployment)},
                         {}};
  return files_with_wrapper({{"geometry", geometry + "\n"}}, std::move(command), deployment, options);
}

/// The groups are the first nodes in order; the file does not contain the cores.
Result<MappingFile> read_lsf(const FileContents& file, const Topology& topology, HostNames hosts) {
  const auto bad = [&](std::string what) {
    return fail(Code::bad_input, at(file.name()), std::move(what), "write a geometry as: {(2,5,7)(0,6)(1,3,4)}");
  };
  std::vector<NamedBinding> bindings;
  std::string_view text = file.view();
  const std::size_t open = text.find('{');
  const std::size_t close = text.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return bad("{ } is missing");
  text = text.substr(open + 1, close - open - 1);
  std::uint32_t node = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(')');
    if (text[0] != '(' || end == std::string_view::npos) return bad("a group is not closed");
    if (node >= topology.node_count()) return bad("there are more groups than nodes of the machine");
    const std::string host = hosts.empty() ? topology.node_name(Node{node}) : hosts[node];
    for (const char* at = text.data() + 1; at < text.data() + end;) {
      std::uint32_t rank = 0;
      const auto [after, error] = std::from_chars(at, text.data() + end, rank);
      if (error != std::errc() || (after != text.data() + end && *after != ','))
        return bad("a group contains something other than ranks");
      if (rank >= file.view().size()) return missing_ranks(file, 0, rank);
      if (rank >= bindings.size()) bindings.resize(rank + 1);
      if (!bindings[rank].host.empty()) return bad(fmt::format("rank {} is in two groups", rank));
      bindings[rank].host = host;
      at = after + 1;
    }
    text.remove_prefix(end + 1);
    ++node;
  }
  const auto missing =
      std::find_if(bindings.begin(), bindings.end(), [](const NamedBinding& binding) { return binding.host.empty(); });
  if (missing != bindings.end()) return bad(fmt::format("rank {} is not in any group", missing - bindings.begin()));
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

Result<EmittedLaunch> write_pbs(const Deployment& deployment, const EmitOptions& options) {
  std::string select = "select=";
  std::uint32_t first = 0;
  for (const HostRun& run : host_runs(deployment)) {
    std::uint64_t cores = 0;
    for (std::uint32_t rank = first; rank < first + run.ranks; ++rank) cores += deployment.shapes.of(Rank{rank}).cores;
    first += run.ranks;
    const std::uint64_t of_rank = deployment.shapes.differ() ? 1 : deployment.shapes.common().cores;
    fmt::format_to(std::back_inserter(select), "{}1:ncpus={}:mpiprocs={}{}:host={}", select.ends_with('=') ? "" : "+",
                   cores, run.ranks, of_rank > 1 ? fmt::format(":ompthreads={}", of_rank) : "", run.host);
  }
  EmittedLaunch result{{host_of_each_rank(deployment), {"job.sh", pbs_script(deployment, options)}},
                       {{{}, {"qsub"}, {"-l", select, "-l", "place=free"}, {options.path("job.sh")}}}};
  if (options.binds()) result.files.push_back(binding_table(deployment));
  return result;
}

Result<EmittedLaunch> write_fujitsu(const Deployment& deployment, const EmitOptions& options) {
  const auto sizes = dimensions(deployment.topology);
  std::string text;
  for (const Binding& binding : deployment.bindings) {
    std::uint32_t rest = index(binding.node);
    text += "(";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? "," : "", rest % sizes[i]);
      rest /= sizes[i];
    }
    text += ")\n";
  }
  EmittedCommand command{
      {}, {"mpiexec"}, {"-n", number_of_ranks(deployment), "--vcoordfile", options.path("vcoordfile")}, {}};
  return files_with_wrapper({{"vcoordfile", std::move(text)}}, std::move(command), deployment, options);
}

Result<MappingFile> read_fujitsu(const FileContents& file, const Topology& topology, HostNames hosts) {
  const auto sizes = dimensions(topology);
  std::vector<NamedBinding> bindings;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    if (text.empty()) continue;
    const auto bad = [&] {
      return fail(Code::bad_input, at(file.name(), number),
                  fmt::format("\"{}\" is not a coordinate of this machine", text.substr(0, 40)),
                  fmt::format("write {} numbers in parentheses, each below the size of its dimension", sizes.size()));
    };
    if (!text.starts_with('(') || !text.ends_with(')')) return bad();
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size() - 1;
    std::uint64_t node = 0;
    std::uint64_t stride = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::uint32_t value = 0;
      const auto [after, error] = std::from_chars(at, end, value);
      const bool last = i + 1 == sizes.size();
      if (error != std::errc() || value >= sizes[i] || (last ? after != end : after == end || *after != ','))
        return bad();
      node += value * stride;
      stride *= sizes[i];
      at = after + 1;
    }
    const Node holder{static_cast<std::uint32_t>(node)};
    bindings.push_back({hosts.empty() ? topology.node_name(holder) : hosts[index(holder)]});
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

}  // namespace

constinit const Launcher launcher_rows::lsf{
    .name = "lsf",
    .title = "LSF",
    .summary = "LSF: the ranks of each host",
    .reference = "IBM Spectrum LSF 10.1, Running jobs with task geometry; Span string",
    .checked = "written according to its manual; not launched",
    .write = write_lsf,
    .read = read_lsf,
};

constinit const Launcher launcher_rows::pbs{
    .name = "pbs",
    .title = "PBS",
    .summary = "PBS: a selection of chunks in the order of ranks",
    .reference = "OpenPBS: qsub(1B), pbs_resources(7B)",
    .checked = "written according to its manual, the order of hosts according to a site's guide; not launched",
    .write = write_pbs,
    .read = read_hosts,
};

constinit const Launcher launcher_rows::fujitsu{
    .name = "fujitsu",
    .title = "Fujitsu MPI",
    .summary = "Fujitsu MPI (Fugaku): one coordinate per rank",
    .reference = "Fujitsu MPI, --vcoordfile",
    .checked = "unverified: no manual found",
    .write = write_fujitsu,
    .read = read_fujitsu,
};

}  // namespace rankloom
