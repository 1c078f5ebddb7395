// SPDX-License-Identifier: Apache-2.0
// place/launchers: writes and reads the rankfiles of Open MPI.
#include "rankloom/place/launchers/rankfile.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

/// The processing units of a node in the order of the topology: unit i has logical number i.
std::vector<std::uint32_t> units_of_node(const Topology& topology, Node node) {
  std::vector<std::uint32_t> units;
  std::set<std::uint32_t> known;
  const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
  for (auto leaf = index(topology.first_core(topology.node_level(), index(node))); leaf < end; ++leaf) {
    const std::uint32_t unit = topology.os_index(Core{leaf});
    if (known.insert(unit).second) units.push_back(unit);
  }
  return units;
}

struct RankLine {
  std::uint64_t rank = 0;
  std::string host;
  std::vector<std::uint32_t> units;
};

/// "rank 3=node1 slot=5" or "slot=0-3,8"
std::optional<RankLine> parse_rank_line(std::string_view text) {
  RankLine line;
  Scanner in(text);
  in.skip_blanks();
  if (in.take_token() != "rank") return std::nullopt;
  in.skip_blanks();
  const std::string_view assignment = in.take_token();
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  Scanner number(assignment.substr(0, equals));
  if (!number.take_integer(line.rank)) return std::nullopt;
  line.host = std::string(assignment.substr(equals + 1));
  in.skip_blanks();
  std::string_view slot = in.take_token();
  if (!slot.starts_with("slot=") || !is_plain_host_name(line.host)) return std::nullopt;
  auto units = parse_number_ranges(slot.substr(5));
  if (!units || units->empty()) return std::nullopt;
  line.units = std::move(*units);
  in.skip_blanks();
  return in.done() ? std::optional(line) : std::nullopt;
}

Result<std::vector<std::optional<NamedBinding>>> read_rank_lines(const FileContents& file) {
  std::vector<std::optional<NamedBinding>> bindings;
  std::size_t total_units = 0;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto line = parse_rank_line(text);
    if (!line) {
      return fail(Code::bad_input, at(file.name(), number), "this is not a line of a rankfile",
                  "write a line as: rank 3=node1 slot=5, or slot=0-3,8 (sockets are not read)");
    }
    constexpr std::size_t max_total_units = 1U << 26;
    if ((total_units += line->units.size()) > max_total_units) {
      return fail(Code::bad_input, at(file.name(), number), "the ranks up to here have too many processing units",
                  "correct the ranges");
    }
    if (line->rank >= file.view().size()) return missing_ranks(file, number, line->rank);
    if (line->rank >= bindings.size()) bindings.resize(line->rank + 1);
    if (bindings[line->rank]) {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("rank {} appears again", line->rank),
                  "give every rank exactly one line");
    }
    bindings[line->rank] = NamedBinding{line->host, std::move(line->units)};
  }
  return bindings;
}

/// The binding of every rank.
Result<std::vector<NamedBinding>> read_rankfile(const FileContents& file) {
  auto lines = read_rank_lines(file);
  if (!lines) return propagate(lines);
  std::vector<NamedBinding> bindings;
  for (auto& binding : *lines) {
    if (!binding) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} is not in this file", bindings.size()),
                  "list every rank in the rankfile");
    }
    bindings.push_back(std::move(*binding));
  }
  return bindings;
}

}  // namespace

IdVector<Rank, std::vector<std::uint32_t>> slots_of_ranks(const Deployment& deployment, SlotNumbering numbering) {
  IdVector<Rank, std::vector<std::uint32_t>> slots(deployment.rank_count());
  for (const Rank rank : deployment.ranks()) slots[rank] = deployment.cpus(rank);
  if (numbering == SlotNumbering::physical) return slots;
  const auto ranks_of = deployment.ranks_of_nodes();
  for (const Node node : deployment.topology.nodes()) {
    if (ranks_of[node].empty()) continue;
    std::map<std::uint32_t, std::uint32_t> number_of;
    for (const std::uint32_t unit : units_of_node(deployment.topology, node))
      number_of.emplace(unit, static_cast<std::uint32_t>(number_of.size()));
    for (const Rank rank : ranks_of[node]) {
      for (std::uint32_t& unit : slots[rank]) unit = number_of.at(unit);
      std::sort(slots[rank].begin(), slots[rank].end());
    }
  }
  return slots;
}

LauncherFile rankfile(const Deployment& deployment, const IdVector<Rank, std::vector<std::uint32_t>>& slots) {
  std::string text;
  for (const Rank rank : deployment.ranks()) {
    fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", index(rank), deployment.host(rank),
                   format_number_ranges(slots[rank]));
  }
  return {"rankfile", std::move(text)};
}

Result<MappingFile> read_physical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts) {
  auto bindings = read_rankfile(file);
  if (!bindings) return propagate(bindings);
  return mapping_of_bindings(*bindings, topology, hosts, file.name());
}

Result<MappingFile> read_logical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts) {
  auto bindings = read_rankfile(file);
  if (!bindings) return propagate(bindings);
  // The host determines the node, whose processing units the slot counts.
  std::vector<NamedBinding> hosts_only;
  for (const NamedBinding& binding : *bindings) hosts_only.push_back({binding.host});
  auto mapping = mapping_of_bindings(hosts_only, topology, hosts, file.name());
  if (!mapping) return propagate(mapping);
  std::map<Node, std::vector<std::uint32_t>> units_of;
  for (std::size_t rank = 0; rank < bindings->size(); ++rank) {
    NamedBinding& binding = (*bindings)[rank];
    const Node node = topology.node_of(mapping->core_of[rank]);
    const auto [units, added] = units_of.try_emplace(node);
    if (added) units->second = units_of_node(topology, node);
    for (std::uint32_t& number : binding.cpus) {
      if (number >= units->second.size()) {
        return fail(Code::bad_input, at(file.name()),
                    fmt::format("rank {} is on slot {} of {}, which has fewer cores", rank, number, binding.host),
                    "give the topology that the file was written for");
      }
      number = units->second[number];
    }
  }
  return mapping_of_bindings(*bindings, topology, hosts, file.name());
}

}  // namespace rankloom
