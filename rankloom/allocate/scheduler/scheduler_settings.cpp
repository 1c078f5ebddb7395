// SPDX-License-Identifier: Apache-2.0
// allocate: reading the configuration of a scheduler's plugin.
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>

#include "rankloom/core/suggest.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/model/topology_json.hpp"

namespace rankloom {

namespace {

constexpr std::size_t most_names = 1U << 20U;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

using Set = Result<void> (*)(SchedulerSettings&, std::string_view value);

Result<void> wrong(std::string_view value, std::string hint) {
  return fail(Code::bad_input, at(""), fmt::format("'{}' is not a value it takes", value), std::move(hint));
}

Result<void> set_share(double& field, std::string_view value) {
  const auto number = parse_number(value);
  if (!number || *number < 0 || *number > 1000) return wrong(value, "a share of 0 or more, such as 0.25");
  field = *number;
  return {};
}

struct Key {
  std::string_view name;
  Set set;
};

constexpr auto keys = std::to_array<Key>({
    {"topology",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       settings.topology = std::string(value);
       return {};
     }},
    {"nodes",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       auto names = expand_node_names(value);
       if (!names) return propagate(names);
       settings.nodes = std::move(*names);
       return {};
     }},
    {"policy",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       auto policy = find_policy(value);
       if (!policy) return propagate(policy);
       settings.policy = std::string(value);
       return {};
     }},
    {"exclusive",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       if (value != "routers" && value != "links") return wrong(value, "one of: routers, links");
       settings.exclusive = value == "links" ? Exclusive::links : Exclusive::routers;
       return {};
     }},
    {"waste",
     [](SchedulerSettings& settings, std::string_view value) { return set_share(settings.place.limits.waste, value); }},
    {"slack",
     [](SchedulerSettings& settings, std::string_view value) { return set_share(settings.place.limits.slack, value); }},
    {"fallback",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       for (const Fallback one : {Fallback::wait, Fallback::diameter, Fallback::closed}) {
         if (name_of(one) != value) continue;
         settings.place.fallback = one;
         return {};
       }
       return wrong(value, "one of: wait, diameter, closed");
     }},
    {"cpus",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       const auto number = parse_number(value);
       if (!number || *number < 1 || *number > 1e6) return wrong(value, "a number from 1");
       settings.cpus = static_cast<std::uint32_t>(*number);
       return {};
     }},
});

Result<void> set_line(SchedulerSettings& settings, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos)
    return fail(Code::bad_input, at(""), fmt::format("'{}' has no =", line), "write a line as key = value");
  const std::string_view name = trim(line.substr(0, equals));
  std::vector<std::string_view> known;
  for (const Key& key : keys) {
    if (key.name == name) return key.set(settings, trim(line.substr(equals + 1)));
    known.push_back(key.name);
  }
  return fail(Code::bad_input, at(""), fmt::format("there is no key '{}'", name), suggest(name, known));
}

/// "3-5" with the width of its first number.
bool append_range(std::vector<std::string>& names, std::string_view before, std::string_view range,
                  std::string_view after) {
  const std::string_view first = range.substr(0, range.find('-'));
  const std::string_view last = range.find('-') == std::string_view::npos ? first : range.substr(first.size() + 1);
  std::uint64_t from = 0, to = 0;
  const auto number = [](std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
  };
  if (!number(first, from) || !number(last, to) || to < from || to - from >= most_names) return false;
  for (std::uint64_t i = from; i <= to; ++i) names.push_back(fmt::format("{}{:0{}}{}", before, i, first.size(), after));
  return names.size() <= most_names;
}

}  // namespace

Result<std::vector<std::string>> expand_node_names(std::string_view text) {
  std::vector<std::string> names;
  const auto bad = [&](std::string_view word) {
    return fail(Code::bad_input, at(""), fmt::format("'{}' names no nodes", word), "write them as n[1-64] or a,b,c");
  };
  while (!text.empty()) {
    std::size_t end = 0;
    for (bool inside = false; end < text.size() && (inside || text[end] != ','); ++end)
      inside = text[end] == '[' || (inside && text[end] != ']');
    const std::string_view word = trim(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t open = word.find('['), close = word.find(']');
    if (word.empty() || (open == std::string_view::npos) != (close == std::string_view::npos)) return bad(word);
    if (open == std::string_view::npos) {
      names.emplace_back(word);
      continue;
    }
    if (close < open || word.find('[', open + 1) != std::string_view::npos) return bad(word);
    std::string_view ranges = word.substr(open + 1, close - open - 1);
    if (ranges.empty()) return bad(word);
    while (!ranges.empty()) {
      const std::string_view range = ranges.substr(0, ranges.find(','));
      if (!append_range(names, word.substr(0, open), range, word.substr(close + 1))) return bad(word);
      ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
    }
  }
  return names;
}

Result<SchedulerSettings> read_scheduler_settings(const FileContents& file) {
  SchedulerSettings settings;
  std::string_view rest = file.view();
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view said = trim(line.substr(0, line.find('#')));
    if (said.empty()) continue;
    if (auto set = set_line(settings, said); !set)
      return fail(Code::bad_input, at(file.name(), number), set.error().what, set.error().hint);
  }
  if (settings.topology.empty())
    return fail(Code::bad_input, at(file.name()), "no machine is named", "add a line: topology = topology.json");
  return settings;
}

Result<NamedMachine> load_scheduler_machine(const SchedulerSettings& settings, const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  auto file = read_file((folder / settings.topology).string());
  if (!file) return propagate(file);
  auto spec = read_machine_json(*file);
  if (!spec) return propagate(spec);
  auto topology = Topology::build(std::move(*spec));
  if (!topology) return propagate(topology);
  if (topology->is_matrix())
    return fail(Code::bad_input, at(settings.topology), "a table of distances has no routes",
                "name a machine with a network");
  std::vector<std::string> names = settings.nodes;
  if (names.empty()) {
    for (const Node node : topology->nodes()) names.push_back(topology->node_name(node));
  }
  if (names.size() != topology->node_count()) {
    return fail(Code::bad_input, at(path),
                fmt::format("{} names for a machine of {} nodes", names.size(), topology->node_count()),
                "give every node of the topology one name, in its order: nodes = n[1-64]");
  }
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      return fail(Code::bad_input, at(path), fmt::format("two nodes are called {}", name), "name every node once");
  }
  const Exclusive exclusive = settings.exclusive.value_or(usual_exclusive(topology->network()));
  return NamedMachine{Allocator(AllocationMachine(std::move(*topology), exclusive)), std::move(names)};
}

}  // namespace rankloom
