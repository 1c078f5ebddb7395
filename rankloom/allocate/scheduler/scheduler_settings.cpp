// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: reads the configuration of a scheduler plugin.
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

using SetFunction = Result<void> (*)(SchedulerSettings&, std::string_view value);

Result<void> invalid_value(std::string_view value, std::string hint) {
  return fail(Code::bad_input, at(""), fmt::format("invalid value '{}'", value), std::move(hint));
}

Result<void> set_fraction(double& field, std::string_view value) {
  const auto number = parse_number(value);
  if (!number || *number < 0 || *number > 1000)
    return invalid_value(value, "give a number of 0 or more, for example 0.25");
  field = *number;
  return {};
}

Result<void> set_count(std::uint32_t& field, std::string_view value) {
  const auto number = parse_number(value);
  if (!number || *number < 1 || *number > 1e6) return invalid_value(value, "give a whole number of 1 or more");
  field = static_cast<std::uint32_t>(*number);
  return {};
}

struct Key {
  std::string_view name;
  SetFunction set;
};

constexpr auto keys = std::to_array<Key>({
    {"topology",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       settings.topology = std::string(value);
       return {};
     }},
    {"nodes",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       auto names = expand_hostlist(value);
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
       if (value != "routers" && value != "links") return invalid_value(value, "give routers or links");
       settings.exclusive = value == "links" ? Exclusive::links : Exclusive::routers;
       return {};
     }},
    {"waste", [](SchedulerSettings& settings,
                 std::string_view value) { return set_fraction(settings.allocation.limits.waste, value); }},
    {"slack", [](SchedulerSettings& settings,
                 std::string_view value) { return set_fraction(settings.allocation.limits.slack, value); }},
    {"fallback",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       for (const Fallback fallback : {Fallback::wait, Fallback::diameter, Fallback::isolated}) {
         if (name_of(fallback) != value) continue;
         settings.allocation.fallback = fallback;
         return {};
       }
       return invalid_value(value, "give wait, diameter or closed");
     }},
    {"prefer",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       const auto prefer = find_preference(value);
       if (!prefer) return invalid_value(value, "give balanced, job or packing");
       settings.allocation.fit.prefer = *prefer;
       return {};
     }},
    {"profiles",
     [](SchedulerSettings& settings, std::string_view value) -> Result<void> {
       if (!value.starts_with('/')) return invalid_value(value, "give an absolute path, such as /shared/rankloom");
       settings.profiles = std::string(value);
       return {};
     }},
    {"max_profiles",
     [](SchedulerSettings& settings, std::string_view value) { return set_count(settings.max_profiles, value); }},
    {"cpus", [](SchedulerSettings& settings, std::string_view value) { return set_count(settings.cpus, value); }},
});

Result<void> set_line(SchedulerSettings& settings, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos)
    return fail(Code::bad_input, at(""), fmt::format("'{}' has no '='", line), "write each line as key = value");
  const std::string_view name = trim(line.substr(0, equals));
  std::vector<std::string_view> known;
  for (const Key& key : keys) {
    if (key.name == name) return key.set(settings, trim(line.substr(equals + 1)));
    known.push_back(key.name);
  }
  return fail(Code::bad_input, at(""), fmt::format("unknown key '{}'", name), suggest(name, known));
}

}  // namespace

Result<SchedulerSettings> read_scheduler_settings(const FileContents& file) {
  SchedulerSettings settings;
  std::string_view rest = file.view();
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view content = trim(line.substr(0, line.find('#')));
    if (content.empty()) continue;
    if (auto set = set_line(settings, content); !set)
      return fail(Code::bad_input, at(file.name(), number), set.error().what, set.error().hint);
  }
  if (settings.topology.empty())
    return fail(Code::bad_input, at(file.name()), "the key 'topology' is missing",
                "add a line such as: topology = topology.json");
  return settings;
}

std::string topology_source(const SchedulerSettings& settings, const std::string& path) {
  const auto file = (std::filesystem::path(path).parent_path() / settings.topology).string();
  std::error_code ignored;  // a long topology string is not a valid path
  const bool is_string = settings.topology.find(':') != std::string::npos && !std::filesystem::exists(file, ignored);
  return is_string ? settings.topology : file;
}

Result<NamedMachine> name_machine(MachineSpec machine, const SchedulerSettings& settings, const std::string& path) {
  auto topology = Topology::build(std::move(machine));
  if (!topology) return propagate(topology);
  if (topology->is_matrix())
    return fail(Code::bad_input, at(settings.topology), "a distance matrix has no routes",
                "give a topology with a network or switches");
  std::vector<std::string> names = settings.nodes;
  if (names.empty()) {
    for (const Node node : topology->nodes()) names.push_back(topology->node_name(node));
  }
  if (names.size() != topology->node_count()) {
    return fail(
        Code::bad_input, at(path),
        fmt::format("there are {} node names but the machine has {} nodes", names.size(), topology->node_count()),
        "give one name per node, in the order of the topology, for example: nodes = n[1-64]");
  }
  std::unordered_set<std::string> known_names;
  for (const std::string& name : names) {
    if (!known_names.insert(name).second)
      return fail(Code::bad_input, at(path), fmt::format("two nodes have the name {}", name),
                  "give every node its own name");
  }
  const Exclusive exclusive = settings.exclusive.value_or(default_exclusive(*topology));
  return NamedMachine{Allocator(AllocationMachine(std::move(*topology), exclusive)), std::move(names)};
}

}  // namespace rankloom
