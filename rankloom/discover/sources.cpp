// SPDX-License-Identifier: Apache-2.0
// discover: the table of everything that describes a machine in a file, and the way from a -t argument to a Topology.
#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/hostfile.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/discover/infiniband.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

bool is_json(std::string_view text) {
  return trimmed(text).starts_with('{');
}

/// One line of words with counts. A lone "name:count" is rather a host, unless it has the name of a level.
bool is_topology_string(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 100'000 || text.find('\n') != std::string_view::npos) return false;
  const auto words = split_at_blanks(text);
  if (words.empty()) return false;
  const auto colon = words[0].find(':');
  if (colon == std::string_view::npos || !is_name(words[0].substr(0, colon))) return false;
  static constexpr std::array<std::string_view, 5> levels{"node", "core", "pu", "package", "switch"};
  const std::string kind = lower_case(words[0].substr(0, colon));
  return words.size() > 1 || is_network(words[0]) || words[0].find_first_of("=*+") != std::string_view::npos ||
         std::find(levels.begin(), levels.end(), kind) != levels.end();
}

Result<MachineSpec> read_topology_string(const FileContents& file) {
  auto machine = parse_topology_string(trimmed(file.view()));
  if (!machine) machine.error().where = at(file.name(), 1);
  return machine;
}

constexpr auto sources = std::to_array<TopologySourceInfo>({
    {"json", "this program's own file, which says everything a machine can have", is_json, read_machine_json},
    {"hwloc", "one host as lstopo writes it: lstopo node.xml", is_hwloc_xml, read_hwloc_xml},
    {"slurm", "Slurm's topology.conf, or what `scontrol show topology` prints", is_slurm_topology, read_slurm_topology},
    {"slurm-yaml", "Slurm's topology.yaml", is_slurm_yaml, read_slurm_yaml},
    {"infiniband", "a fabric as ibnetdiscover prints it", is_infiniband, read_infiniband},
    {"string", "a topology string such as \"node:6=3.7 core:16=1\", alone in a file", is_topology_string,
     read_topology_string},
    {"hostlist", "hosts and slots as launchers take them: \"node1 4\", \"node1:4\", \"node1 slots=4\"", is_hostlist,
     read_hostlist},
});

Result<MachineSpec> read_any(const FileContents& file) {
  const std::string hint =
      "give a file of a kind that `rankloom list topologies` names, or a topology string such as \"node:6=3.7 "
      "core:16=1\"";
  if (trimmed(file.view()).empty()) return fail(Code::bad_input, at(file.name()), "is empty", hint);
  for (const TopologySourceInfo& source : sources) {
    if (source.recognise(file.view())) return source.read(file);
  }
  return fail(Code::bad_input, at(file.name()), "does not look like any known description of a machine", hint);
}

/// A topology string may hold "/" too ("node:4=10GB/s", "fattree:4,4/2,1"), but only behind a ":".
bool looks_like_path(const std::string& text) {
  static constexpr std::array<std::string_view, 7> endings{".json", ".txt", ".xml", ".conf", ".yaml", ".yml", ".hosts"};
  const auto slash = text.find('/');
  return (slash != std::string::npos && slash < text.find(':')) ||
         std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

std::span<const TopologySourceInfo> topology_sources() {
  return sources;
}

Result<MachineSpec> load_machine(const std::string& file_or_string) {
  std::error_code ignored;  // a long string is no valid path, and that is no error
  if (file_or_string == "-" || looks_like_path(file_or_string) || std::filesystem::exists(file_or_string, ignored)) {
    auto file = read_file(file_or_string);
    if (!file) return propagate(file);
    return read_any(*file);
  }
  return parse_topology_string(file_or_string);
}

Result<Topology> load_topology(const std::string& file_or_string) {
  auto machine = load_machine(file_or_string);
  if (!machine) return propagate(machine);
  return Topology::build(std::move(*machine));
}

}  // namespace rankloom
