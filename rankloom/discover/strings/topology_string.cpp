// SPDX-License-Identifier: Apache-2.0
// discover: a machine in one string. docs/topology.md is the user's description of the language.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// "16", "16*2", "4+8*2+4".
Result<std::vector<LevelWords::Count>> parse_counts(std::string_view token, std::string_view text) {
  std::vector<LevelWords::Count> counts;
  for (const std::string_view item : split(text, '+')) {
    const auto parts = split(item, '*');
    const auto objects = parse_size(parts[0]);
    if (!objects) return bad_token(token, fmt::format("\"{}\" is not a count", shown(parts[0])));
    LevelWords::Count count{.objects = *objects};
    if (parts.size() > 1) {
      const auto capacity = parse_size(parts[1]);
      if (!capacity || parts.size() > 2)
        return bad_token(token, fmt::format("\"{}\" is not a count times a capacity", shown(item)));
      count.capacity = *capacity;
    }
    counts.push_back(count);
  }
  return counts;
}

Result<LevelWords> parse_level(std::string_view token) {
  const auto colon = token.find(':');
  const std::string kind = lower_case(token.substr(0, colon));
  if (colon == std::string_view::npos || !is_name(kind)) return bad_token(token, "is no level, network or hole");
  const std::string_view rest = token.substr(colon + 1);
  const auto equals = rest.find('=');
  LevelWords level{.kind = kind, .counts = {}, .cost = {}, .token = shown(token)};
  auto counts = parse_counts(token, rest.substr(0, equals));
  if (!counts) return propagate(counts);
  level.counts = std::move(*counts);
  if (equals == std::string_view::npos) return level;
  auto cost = parse_cost(token, rest.substr(equals + 1));
  if (!cost) return propagate(cost);
  level.cost = *cost;
  return level;
}

/// What stands behind the "!" of "!core:5,17-19".
struct HoleWords {
  std::string kind;
  std::vector<Range> ranges;
  std::string token;
};

Result<HoleWords> parse_hole(std::string_view token) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos) return bad_token(token, "does not say which objects are missing");
  HoleWords hole{.kind = lower_case(token.substr(1, colon - 1)), .ranges = {}, .token = shown(token)};
  for (const std::string_view item : split(token.substr(colon + 1), ',')) {
    const auto ends = split(item, '-');
    const auto first = parse_index(ends[0]), last = parse_index(ends.back());
    if (!first || !last || ends.size() > 2 || *last < *first)
      return bad_token(token, fmt::format("\"{}\" is no number or range", shown(item)));
    hole.ranges.push_back({*first, *last});
  }
  return hole;
}

/// The words of one string, sorted by what they are.
struct Words {
  std::string_view network;  // empty: a plain hierarchy
  std::vector<LevelWords> levels;
  std::vector<HoleWords> holes;
};

Result<Words> sort_words(std::string_view text) {
  Words words;
  for (const std::string_view token : split_at_blanks(text)) {
    if (token.starts_with('!')) {
      auto hole = parse_hole(token);
      if (!hole) return propagate(hole);
      words.holes.push_back(std::move(*hole));
    } else if (is_network(token)) {
      if (!words.network.empty() || !words.levels.empty())
        return bad_token(token, "a network comes first, and only one");
      words.network = token;
    } else {
      auto level = parse_level(token);
      if (!level) return propagate(level);
      words.levels.push_back(std::move(*level));
      if (words.levels.size() > most_levels)
        return bad_token(token, fmt::format("there are more than {} levels", most_levels));
    }
  }
  if (words.network.empty() && words.levels.empty()) return bad_token(text, "names no level");
  return words;
}

/// Nodes of which nothing more is said hold one core.
void add_core(std::vector<LevelWords>& levels) {
  if (!levels.empty() && levels.back().kind != "node") return;
  LevelWords core{.kind = "core", .counts = {{.objects = 1}}, .cost = {}, .token = "core:1"};
  if (!levels.empty() && levels.back().counts.size() == 1) {  // "node:4*2": the capacity belongs to the core
    std::swap(core.counts[0].capacity, levels.back().counts[0].capacity);
  }
  levels.push_back(std::move(core));
}

Result<void> check_levels(const std::vector<LevelWords>& levels) {
  int nodes = 0;
  for (const LevelWords& level : levels) {
    const bool last = &level == &levels.back();
    if (level.kind == "node" && ++nodes > 1) return bad_token(level.token, "the nodes are given already");
    for (const auto& count : level.counts) {
      if (!last && count.capacity != 1) return bad_token(level.token, "only the last level, the cores, has a capacity");
    }
  }
  return {};
}

/// Sorted, and no two overlap or touch.
std::vector<Range> merged(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.first <= result.back().last + 1) {
      result.back().last = std::max(result.back().last, range.last);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

Result<void> close_holes(const std::vector<HoleWords>& holes, const std::vector<LevelWords>& levels,
                         const std::vector<std::uint64_t>& objects, ObjectSpec& root) {
  std::map<std::size_t, std::vector<Range>> ranges;
  for (const HoleWords& hole : holes) {
    const auto is_meant = [&](const LevelWords& level) { return level.kind == hole.kind; };
    const auto found = std::find_if(levels.begin(), levels.end(), is_meant);
    if (found == levels.end())
      return bad_token(hole.token, fmt::format("there is no level called \"{}\"", shown(hole.kind)));
    if (std::count_if(levels.begin(), levels.end(), is_meant) > 1) {
      return bad_token(hole.token, fmt::format("there are several levels called \"{}\"", hole.kind));
    }
    const auto level = static_cast<std::size_t>(found - levels.begin());
    for (const Range& range : hole.ranges) {
      if (range.last >= objects[level]) {
        return bad_token(hole.token, fmt::format("{} {} is outside 0..{}", hole.kind, range.last, objects[level] - 1));
      }
      ranges[level].push_back(range);
    }
  }
  for (auto& [level, list] : ranges) close_objects(root, level, merged(std::move(list)));
  return {};
}

}  // namespace

Result<MachineSpec> parse_topology_string(std::string_view text) {
  auto words = sort_words(text);
  if (!words) return propagate(words);
  std::vector<LevelWords> levels = std::move(words->levels);
  add_core(levels);
  MachineSpec machine;
  machine.text = std::string(text);
  if (!words->network.empty()) {
    auto network = parse_network(words->network, default_per_hop(levels));
    if (!network) return propagate(network);
    levels.insert(levels.begin(), network->levels.begin(), network->levels.end());
    machine.network = std::move(network->network);
  }
  if (auto sound = check_levels(levels); !sound) return propagate(sound);
  auto objects = count_objects(levels);
  if (!objects) return propagate(objects);
  machine.root = build_levels(levels);
  if (auto closed = close_holes(words->holes, levels, *objects, machine.root); !closed) return propagate(closed);
  return machine;
}

}  // namespace rankloom
