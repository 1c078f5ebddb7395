// SPDX-License-Identifier: Apache-2.0
// discover: the table of topology sources, and the way from a -t argument to a Topology.
#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/discover/infiniband.hpp"
#include "rankloom/discover/kubernetes/node_labels.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/discover/strings/hostfile.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

constexpr std::string_view whitespace = " \t\r\n\v\f";

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(whitespace), text.size()));
  return text.substr(0, text.find_last_not_of(whitespace) + 1);
}

bool is_json(std::string_view text) {
  return trim(text).starts_with('{');
}

/// One line of tokens with counts. A single "name:count" is a host with its slots, unless the name is that of a level.
bool is_topology_string(std::string_view text) {
  text = trim(text);
  if (text.size() > 100'000 || text.find('\n') != std::string_view::npos) return false;
  const auto tokens = split_at_blanks(text);
  if (tokens.empty()) return false;
  const auto colon = tokens[0].find(':');
  if (colon == std::string_view::npos || !is_name(tokens[0].substr(0, colon))) return false;
  static constexpr std::array<std::string_view, 5> levels{"node", "core", "pu", "package", "switch"};
  const std::string kind = lower_case(tokens[0].substr(0, colon));
  return tokens.size() > 1 || is_network_token(tokens[0]) || tokens[0].find_first_of("=*+") != std::string_view::npos ||
         std::find(levels.begin(), levels.end(), kind) != levels.end();
}

Result<MachineSpec> read_topology_string(const FileContents& file) {
  auto machine = parse_topology_string(trim(file.view()));
  if (!machine) machine.error().where = at(file.name(), 1);
  return machine;
}

constexpr auto sources = std::to_array<TopologySourceInfo>({
    {"kubernetes", "labels of nodes that describe their network: the output of `kubectl get nodes -o json`",
     is_node_labels, read_node_labels},
    {"json", "topology JSON of rankloom, which can describe every machine", is_json, read_machine_json},
    {"hwloc", "one host as lstopo exports it: lstopo node.xml", is_hwloc_xml, read_hwloc_xml},
    {"slurm", "Slurm's topology.conf, or the output of `scontrol show topology`", is_slurm_topology,
     read_slurm_topology},
    {"slurm-yaml", "Slurm's topology.yaml", is_slurm_yaml, read_slurm_yaml},
    {"infiniband", "an InfiniBand fabric: the output of `ibnetdiscover`", is_infiniband, read_infiniband},
    {"string", "a file with one topology string such as \"node:6=3.7 core:16=1\"", is_topology_string,
     read_topology_string},
    {"hostfile", "hosts and slots as launchers read them: \"node1 4\", \"node1:4\", \"node1 slots=4\"", is_hostfile,
     read_hostfile},
});

Result<MachineSpec> read_source(const FileContents& file) {
  const std::string hint =
      "give a file in one of the formats of `rankloom list topologies`, or a topology string such as \"node:6=3.7 "
      "core:16=1\"";
  if (trim(file.view()).empty()) return fail(Code::bad_input, at(file.name()), "the file is empty", hint);
  for (const TopologySourceInfo& source : sources) {
    if (source.recognise(file.view())) return source.read(file);
  }
  return fail(Code::bad_input, at(file.name()), "the format of the file is unknown", hint);
}

/// A topology string may also contain "/" ("node:4=10GB/s", "fattree:4,4/2,1"), but only after a ":".
bool looks_like_path(const std::string& text) {
  static constexpr std::array<std::string_view, 7> suffixes{".json", ".txt", ".xml",  ".conf",
                                                            ".yaml", ".yml", ".hosts"};
  const auto slash = text.find('/');
  return (slash != std::string::npos && slash < text.find(':')) ||
         std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) { return text.ends_with(suffix); });
}

}  // namespace

std::span<const TopologySourceInfo> topology_sources() {
  return sources;
}

Result<MachineSpec> load_machine(const std::string& file_or_string) {
  std::error_code ignored;  // a long topology string is not a valid path
  if (file_or_string == "-" || looks_like_path(file_or_string) || std::filesystem::exists(file_or_string, ignored)) {
    auto file = read_file(file_or_string);
    if (!file) return propagate(file);
    return read_source(*file);
  }
  return parse_topology_string(file_or_string);
}

Result<Topology> load_topology(const std::string& file_or_string) {
  auto machine = load_machine(file_or_string);
  if (!machine) return propagate(machine);
  return Topology::build(std::move(*machine));
}

}  // namespace rankloom
