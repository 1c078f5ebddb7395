// SPDX-License-Identifier: Apache-2.0
// discover/slurm: reads topology.conf, the output of `scontrol show topology`, and the node list of an allocation.
#include "rankloom/discover/slurm/slurm_topology.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

struct Line {
  std::string text;
  std::uint64_t number;
};

/// The lines without comments and empty lines; a line that ends in "\" continues on the next one.
std::vector<Line> logical_lines(std::string_view text) {
  std::vector<Line> lines;
  std::uint64_t number = 0;
  bool is_continued = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const bool continues = line.ends_with('\\');
    if (continues) line.remove_suffix(1);
    if (is_continued) {
      lines.back().text += line;
    } else if (!split_at_blanks(line).empty()) {
      lines.push_back({std::string(line), number});
    }
    is_continued = continues && (is_continued || !lines.empty());
  }
  return lines;
}

using Pairs = std::map<std::string, std::string_view>;  // keys in lower case

bool starts_entry(std::string_view text) {
  static constexpr auto keys =
      std::to_array<std::string_view>({"switchname=", "blockname=", "blocksizes=", "aggregatedblock="});
  const auto tokens = split_at_blanks(text);
  if (tokens.empty()) return false;
  const std::string token = lower_case(tokens[0]);
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return token.starts_with(key); });
}

class TopologyReader {
 public:
  explicit TopologyReader(const std::string& source) : source_(source) {}

  Result<void> add(const Line& line) {
    auto pairs = read_pairs(line);
    if (!pairs) return propagate(pairs);
    if (pairs->contains("switchname")) return add_entry(line, *pairs, "switchname", switches_);
    if (pairs->contains("blockname")) return add_entry(line, *pairs, "blockname", blocks_);
    if (pairs->contains("aggregatedblock")) return add_aggregate(line, *pairs);
    if (pairs->contains("blocksizes")) return read_sizes(line, pairs->at("blocksizes"));
    return bad(line, fmt::format("\"{}\" is neither a switch nor a block", printable(line.text)),
               "start the line with SwitchName= or BlockName=");
  }

  Result<MachineSpec> machine() && {
    if (!switches_.empty() && !blocks_.empty())
      return fail(Code::bad_input, at(source_, blocks_[0].line), "the file contains both switches and blocks",
                  "keep either the switches or the blocks");
    if (!switches_.empty()) return build_switch_tree(source_, "switch", switches_);
    if (blocks_.empty())
      return fail(Code::bad_input, at(source_), "the file names no switch and no block",
                  "write for example SwitchName=s0 Nodes=n[0-3]");
    if (aggregates_.empty()) return build_switch_tree(source_, "block", aggregate_blocks(std::move(blocks_), sizes_));
    return build_switch_tree(source_, "block", nest_aggregates());
  }

 private:
  Failure bad(const Line& line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line.number), std::move(what), std::move(hint));
  }

  Result<Pairs> read_pairs(const Line& line) const {
    Pairs pairs;
    for (const std::string_view token : split_at_blanks(line.text)) {
      const auto equals = token.find('=');
      if (equals == std::string_view::npos || equals == 0)
        return bad(line, fmt::format("\"{}\" is not of the form key=value", printable(token)),
                   "remove blanks inside lists of nodes");
      if (!pairs.emplace(lower_case(token.substr(0, equals)), token.substr(equals + 1)).second)
        return bad(line, fmt::format("{} is given twice", printable(token.substr(0, equals))), "give it once");
    }
    return pairs;
  }

  Result<std::vector<std::string>> hosts(const Line& line, const Pairs& pairs, const std::string& key) {
    const auto value = pairs.find(key);
    if (value == pairs.end() || value->second.empty() || value->second == "(null)") return std::vector<std::string>{};
    if (lower_case(value->second) == "all")
      return bad(line, "only Slurm can resolve the node list ALL",
                 "give the output of `scontrol show topology` instead");
    auto names = hostlists_.expand(value->second);
    if (!names) names.error().where = at(source_, line.number);
    return names;
  }

  Result<void> add_entry(const Line& line, const Pairs& pairs, const std::string& key, std::vector<SwitchEntry>& list) {
    auto nodes = hosts(line, pairs, "nodes");
    if (!nodes) return propagate(nodes);
    auto below = hosts(line, pairs, "switches");
    if (!below) return propagate(below);
    if (pairs.at(key).empty()) return bad(line, "the name is empty", "write for example SwitchName=s0 Nodes=n[0-3]");
    // The output of scontrol has a key Level, and lists all nodes below every switch.
    list.push_back({.name = std::string(pairs.at(key)),
                    .switches = std::move(*below),
                    .hosts = std::move(*nodes),
                    .line = line.number,
                    .lists_all = pairs.contains("level")});
    return {};
  }

  Result<void> add_aggregate(const Line& line, const Pairs& pairs) {
    auto blocks = hosts(line, pairs, "aggregatedblock");
    if (!blocks) return propagate(blocks);
    aggregates_.push_back({.name = std::string(pairs.at("aggregatedblock")),
                           .switches = std::move(*blocks),
                           .hosts = {},
                           .line = line.number});
    return {};
  }

  Result<void> read_sizes(const Line& line, std::string_view text) {
    for (const std::string_view item : split(text, ',')) {
      const auto size = parse_size(item);
      if (!size || (!sizes_.empty() && (*size <= sizes_.back() || *size % sizes_[0] != 0)))
        return bad(line,
                   fmt::format("BlockSizes: \"{}\" is not larger than the size before it and a multiple of the first",
                               printable(item)),
                   "write increasing multiples of the first size, for example BlockSizes=4,16");
      sizes_.push_back(*size);
    }
    return {};
  }

  /// An aggregate lists base blocks. Its children are the largest smaller aggregates of these blocks.
  std::vector<SwitchEntry> nest_aggregates() const {
    std::vector<SwitchEntry> entries = blocks_;
    std::vector<SwitchEntry> by_size = aggregates_;
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const auto& a, const auto& b) { return a.switches.size() < b.switches.size(); });
    std::map<std::string, std::string> top;  // by base block: the largest aggregate so far that contains it
    for (SwitchEntry& entry : by_size) {
      std::vector<std::string> below;
      std::set<std::string> known;
      for (const std::string& block : entry.switches) {
        const std::string& current = top.contains(block) ? top[block] : block;
        if (known.insert(current).second) below.push_back(current);
      }
      for (const std::string& block : entry.switches) top[block] = entry.name;
      entry.switches = std::move(below);
      entries.push_back(entry);
    }
    return entries;
  }

  const std::string& source_;
  HostlistExpander hostlists_;
  std::vector<SwitchEntry> switches_, blocks_, aggregates_;
  std::vector<std::uint32_t> sizes_;
};

}  // namespace

bool is_slurm_topology(std::string_view text) {
  const auto lines = logical_lines(text.substr(0, 65536));
  return !lines.empty() && starts_entry(lines[0].text);
}

std::vector<SwitchEntry> aggregate_blocks(std::vector<SwitchEntry> blocks, const std::vector<std::uint32_t>& sizes) {
  std::vector<std::string> level;
  level.reserve(blocks.size());
  for (const SwitchEntry& block : blocks) level.push_back(block.name);
  for (std::size_t i = 1; i < sizes.size() && level.size() > 1; ++i) {
    const std::size_t blocks_per_aggregate = sizes[i] / sizes[i - 1];
    std::vector<std::string> above;
    for (std::size_t first = 0; first < level.size() && blocks_per_aggregate > 1; first += blocks_per_aggregate) {
      SwitchEntry entry{.name = fmt::format("{} and on, {} nodes", level[first], sizes[i])};
      for (std::size_t at = first; at < std::min(level.size(), first + blocks_per_aggregate); ++at)
        entry.switches.push_back(level[at]);
      above.push_back(entry.name);
      blocks.push_back(std::move(entry));
    }
    if (blocks_per_aggregate > 1) level = std::move(above);
  }
  return blocks;
}

Result<MachineSpec> read_slurm_topology(const FileContents& file) {
  TopologyReader lines(file.name());
  for (const Line& line : logical_lines(file.view())) {
    if (auto added = lines.add(line); !added) return propagate(added);
  }
  return std::move(lines).machine();
}

Result<std::vector<std::uint32_t>> expand_counts(std::string_view text, std::size_t nodes) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::bad_input, at("environment of Slurm"), fmt::format("\"{}\" {}", printable(text), why),
                "write counts as Slurm does, for example 16(x3),8");
  };
  std::vector<std::uint32_t> counts;
  for (const std::string_view item : split(text, ',')) {
    const auto open = item.find("(x");
    const auto count = parse_size(item.substr(0, open));
    std::optional<std::uint32_t> times = 1;
    if (open != std::string_view::npos && item.ends_with(')'))
      times = parse_size(item.substr(open + 2, item.size() - open - 3));
    if (!count || !times || *times > nodes - counts.size()) return bad("is not a list of counts for these nodes");
    counts.insert(counts.end(), *times, *count);
  }
  if (counts.size() != nodes) return bad(fmt::format("contains {} counts for {} nodes", counts.size(), nodes));
  return counts;
}

Result<MachineSpec> read_slurm_allocation(const SlurmAllocation& allocation) {
  auto hosts = expand_hostlist(allocation.nodes);
  if (!hosts) {
    hosts.error().where = at("environment of Slurm");
    return propagate(hosts);
  }
  std::vector<std::uint32_t> counts(hosts->size(), 1);
  if (!allocation.slots.empty()) {
    auto given = expand_counts(allocation.slots, hosts->size());
    if (!given) return propagate(given);
    counts = std::move(*given);
  }
  MachineSpec machine;
  machine.text = "Slurm's allocation";
  machine.root.kind = "machine";
  machine.root.between = default_switch_cost(1);
  for (std::size_t i = 0; i < hosts->size(); ++i) {
    ObjectSpec core{.kind = "core", .name = {}, .repeat = counts[i], .between = {}, .os_index = {}, .children = {}};
    machine.root.children.push_back({.kind = "node",
                                     .name = (*hosts)[i],
                                     .between = default_level_costs(std::vector<std::string>{"node"})[0],
                                     .os_index = {},
                                     .children = {std::move(core)}});
  }
  set_cost_origins(machine, Origin::assumed);
  return machine;
}

}  // namespace rankloom
