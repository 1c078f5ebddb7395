// SPDX-License-Identifier: Apache-2.0
// discover/strings: parses topology strings. docs/topology.md describes the syntax for users.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// "16", "16*2", "4+8*2+4".
Result<std::vector<LevelSpec::Count>> parse_counts(std::string_view token, std::string_view text) {
  std::vector<LevelSpec::Count> counts;
  for (const std::string_view item : split(text, '+')) {
    const auto parts = split(item, '*');
    const auto objects = parse_size(parts[0]);
    if (!objects) return bad_token(token, fmt::format("\"{}\" is not a count", printable(parts[0])));
    LevelSpec::Count count{.objects = *objects};
    if (parts.size() > 1) {
      const auto capacity = parse_size(parts[1]);
      if (!capacity || parts.size() > 2)
        return bad_token(token, fmt::format("\"{}\" is not a count times a capacity", printable(item)));
      count.capacity = *capacity;
    }
    counts.push_back(count);
  }
  return counts;
}

Result<LevelSpec> parse_level(std::string_view token) {
  const auto colon = token.find(':');
  const std::string kind = lower_case(token.substr(0, colon));
  if (colon == std::string_view::npos || !is_name(kind))
    return bad_token(token, "this is not a level, a network or a hole");
  const std::string_view rest = token.substr(colon + 1);
  const auto equals = rest.find('=');
  LevelSpec level{.kind = kind, .counts = {}, .cost = {}, .token = printable(token)};
  auto counts = parse_counts(token, rest.substr(0, equals));
  if (!counts) return propagate(counts);
  level.counts = std::move(*counts);
  if (equals == std::string_view::npos) return level;
  auto cost = parse_cost(token, rest.substr(equals + 1));
  if (!cost) return propagate(cost);
  level.cost = *cost;
  return level;
}

constexpr std::uint32_t max_devices = 1024;  // of an object

/// The devices of a token such as "gpu:4".
Result<std::vector<DeviceSpec>> parse_devices(std::string_view token) {
  const auto colon = std::min(token.find(':'), token.size());
  const auto count = parse_size(token.substr(std::min(token.size(), colon + 1)));
  if (!count || *count > max_devices)
    return bad_token(token, fmt::format("devices have a number from 1 to {}, and no cost", max_devices));
  return std::vector<DeviceSpec>(*count, DeviceSpec{.kind = lower_case(token.substr(0, colon))});
}

constexpr std::string_view gpu_link_name = "gpu-link";

bool is_gpu_link(std::string_view token) {
  return lower_case(token.substr(0, token.find_first_of(":="))) == gpu_link_name;
}

/// A token such as "gpu-link=25GB/s,1us".
Result<GpuLinkSpec> parse_gpu_link(std::string_view token) {
  if (token.size() == gpu_link_name.size() || token[gpu_link_name.size()] != '=')
    return bad_token(token, "a link between GPUs has a cost, and no number: gpu-link=0.02");
  auto cost = parse_cost(token, token.substr(gpu_link_name.size() + 1));
  if (!cost) return propagate(cost);
  return GpuLinkSpec{.cost = *cost};
}

constexpr std::string_view width_name = "width";

bool is_width(std::string_view token) {
  return lower_case(token.substr(0, token.find(':'))) == width_name;
}

/// A token such as "width:node=2,bus=4". Topology::build checks the kinds and the numbers.
Result<void> parse_widths(std::string_view token, ChannelSpec& channels) {
  for (const std::string_view item : split(token.substr(std::min(token.size(), width_name.size() + 1)), ',')) {
    const auto equals = item.find('=');
    const auto number = equals == std::string_view::npos ? std::nullopt : parse_number(item.substr(equals + 1));
    if (!number) return bad_token(token, fmt::format("\"{}\" is not a width, such as node=2", printable(item)));
    channels.set_width(lower_case(item.substr(0, equals)), *number);
  }
  return {};
}

constexpr std::string_view rails_name = "rails";

bool is_rails(std::string_view token) {
  return lower_case(token.substr(0, token.find_first_of(":="))) == rails_name;
}

/// A token such as "rails:8", after the level of nodes.
Result<void> parse_rails(std::string_view token, std::vector<LevelSpec>& levels) {
  const auto count = parse_size(token.substr(std::min(token.size(), rails_name.size() + 1)));
  if (!count || *count > max_rails)
    return bad_token(token, fmt::format("rails have a number from 1 to {}, and no cost", max_rails));
  if (levels.empty() || levels.back().kind != "node")
    return bad_token(token, "rails belong to the nodes: write them after a level of this name, as in node:8 rails:8");
  if (levels.back().rails > 0) return bad_token(token, "the nodes have rails already");
  levels.back().rails = *count;
  return {};
}

/// The objects that a token such as "!core:5,17-19" excludes.
struct HoleSpec {
  std::string kind;
  std::vector<NumberRange> ranges;
  std::string token;
};

Result<HoleSpec> parse_hole(std::string_view token) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos) return bad_token(token, "the excluded objects are missing");
  HoleSpec hole{.kind = lower_case(token.substr(1, colon - 1)), .ranges = {}, .token = printable(token)};
  for (const std::string_view item : split(token.substr(colon + 1), ',')) {
    const auto range = parse_number_range(item);
    if (!range) return bad_token(token, fmt::format("\"{}\" is not a number or a range", printable(item)));
    hole.ranges.push_back(*range);
  }
  return hole;
}

/// The tokens of one string by their role.
struct ParsedString {
  std::string_view network;  // empty: a plain hierarchy
  std::vector<LevelSpec> levels;
  std::vector<HoleSpec> holes;
  std::vector<DeviceSpec> devices_of_nodes;  // of the nodes of the network
  std::vector<GpuLinkSpec> links_of_nodes;   // the same
  ChannelSpec channels;
};

Result<ParsedString> parse_tokens(std::string_view text) {
  ParsedString parsed;
  for (const std::string_view token : split_at_blanks(text)) {
    if (token.starts_with('!')) {
      auto hole = parse_hole(token);
      if (!hole) return propagate(hole);
      parsed.holes.push_back(std::move(*hole));
    } else if (is_device_kind(lower_case(token.substr(0, token.find(':'))))) {
      auto devices = parse_devices(token);
      if (!devices) return propagate(devices);
      if (parsed.levels.empty() && parsed.network.empty())
        return bad_token(token, "devices belong to the level before them");
      auto& all = parsed.levels.empty() ? parsed.devices_of_nodes : parsed.levels.back().devices;
      all.insert(all.end(), devices->begin(), devices->end());
      if (all.size() > max_devices)
        return bad_token(token, fmt::format("an object has more than {} devices", max_devices));
    } else if (is_gpu_link(token)) {
      auto link = parse_gpu_link(token);
      if (!link) return propagate(link);
      if (parsed.levels.empty() && parsed.network.empty())
        return bad_token(token, "a link between GPUs belongs to the level before it");
      auto& links = parsed.levels.empty() ? parsed.links_of_nodes : parsed.levels.back().gpu_links;
      if (!links.empty()) return bad_token(token, "the level before it has a link between its GPUs already");
      links.push_back(std::move(*link));
    } else if (is_rails(token)) {
      if (auto read = parse_rails(token, parsed.levels); !read) return propagate(read);
    } else if (is_width(token)) {
      if (auto read = parse_widths(token, parsed.channels); !read) return propagate(read);
    } else if (is_network_token(token)) {
      if (!parsed.network.empty() || !parsed.levels.empty())
        return bad_token(token, "only one network is allowed, and it must come first");
      parsed.network = token;
    } else {
      auto level = parse_level(token);
      if (!level) return propagate(level);
      parsed.levels.push_back(std::move(*level));
      if (parsed.levels.size() > max_levels)
        return bad_token(token, fmt::format("there are more than {} levels", max_levels));
    }
  }
  if (parsed.network.empty() && parsed.levels.empty()) return bad_token(text, "there is no level");
  return parsed;
}

/// Nodes without a description of their inside have one core.
void add_core(std::vector<LevelSpec>& levels) {
  if (!levels.empty() && levels.back().kind != "node") return;
  LevelSpec core{.kind = "core", .counts = {{.objects = 1}}, .cost = {}, .token = "core:1"};
  if (!levels.empty() && levels.back().counts.size() == 1) {  // "node:4*2": the capacity belongs to the core
    std::swap(core.counts[0].capacity, levels.back().counts[0].capacity);
  }
  levels.push_back(std::move(core));
}

Result<void> check_levels(const std::vector<LevelSpec>& levels) {
  int nodes = 0;
  for (const LevelSpec& level : levels) {
    const bool last = &level == &levels.back();
    if (level.kind == "node" && ++nodes > 1) return bad_token(level.token, "there is more than one level of nodes");
    for (const auto& count : level.counts) {
      if (!last && count.capacity != 1)
        return bad_token(level.token, "only the last level, the cores, can have a capacity");
    }
  }
  return {};
}

/// Sorts the ranges and merges overlapping and adjacent ones.
std::vector<NumberRange> merge_ranges(std::vector<NumberRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
  std::vector<NumberRange> result;
  for (const NumberRange& range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1) {
      result.back().last = std::max(result.back().last, range.last);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

Result<void> exclude_holes(const std::vector<HoleSpec>& holes, const std::vector<LevelSpec>& levels,
                           const std::vector<std::uint64_t>& objects, ObjectSpec& root) {
  std::map<std::size_t, std::vector<NumberRange>> ranges;
  for (const HoleSpec& hole : holes) {
    const auto has_kind = [&](const LevelSpec& level) { return level.kind == hole.kind; };
    const auto found = std::find_if(levels.begin(), levels.end(), has_kind);
    if (found == levels.end())
      return bad_token(hole.token, fmt::format("there is no level called \"{}\"", printable(hole.kind)));
    if (std::count_if(levels.begin(), levels.end(), has_kind) > 1) {
      return bad_token(hole.token, fmt::format("there are several levels called \"{}\"", hole.kind));
    }
    const auto level = static_cast<std::size_t>(found - levels.begin());
    for (const NumberRange& range : hole.ranges) {
      if (range.last >= objects[level]) {
        return bad_token(hole.token, fmt::format("{} {} is outside 0..{}", hole.kind, range.last, objects[level] - 1));
      }
      ranges[level].push_back(range);
    }
  }
  for (auto& [level, list] : ranges) exclude_objects(root, level, merge_ranges(std::move(list)));
  return {};
}

}  // namespace

Result<MachineSpec> parse_topology_string(std::string_view text) {
  auto parsed = parse_tokens(text);
  if (!parsed) return propagate(parsed);
  std::vector<LevelSpec> levels = std::move(parsed->levels);
  add_core(levels);
  MachineSpec machine;
  machine.text = std::string(text);
  machine.channels = std::move(parsed->channels);
  if (!parsed->network.empty()) {
    auto network = parse_network_token(parsed->network, default_per_hop(levels));
    if (!network) return propagate(network);
    network->levels.back().devices = std::move(parsed->devices_of_nodes);
    network->levels.back().gpu_links = std::move(parsed->links_of_nodes);
    levels.insert(levels.begin(), network->levels.begin(), network->levels.end());
    machine.network = std::move(network->network);
  }
  if (auto valid = check_levels(levels); !valid) return propagate(valid);
  auto objects = count_objects(levels);
  if (!objects) return propagate(objects);
  machine.root = build_levels(levels);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (levels[level].rails == 0) continue;
    if (auto assigned = assign_rails(machine.root, level, levels[level].rails); !assigned) return propagate(assigned);
  }
  if (auto excluded = exclude_holes(parsed->holes, levels, *objects, machine.root); !excluded)
    return propagate(excluded);
  return machine;
}

}  // namespace rankloom
