// SPDX-License-Identifier: Apache-2.0
// discover: a known machine with measured costs.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "rankloom/discover/probe/level_detection.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/probe/probe_costs.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// Where the ranks of a probe sit on a known machine.
Result<std::vector<Core>> seats_of(const Topology& topology, const ProbeTable& table) {
  std::map<std::string, Node> nodes;
  for (const Node node : topology.nodes()) nodes.emplace(short_host_name(topology.node_name(node)), node);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Core> by_cpu;
  for (const Core core : topology.cores())
    by_cpu.emplace(std::pair{index(topology.node_of(core)), topology.os_index(core)}, core);
  std::map<std::uint32_t, std::uint32_t> next;
  std::vector<Core> seats;
  const bool single = topology.node_count() == 1;
  for (const ProbeRank& rank : table.ranks) {
    const auto node = nodes.find(std::string(short_host_name(rank.host)));
    if (node == nodes.end() && !single)
      return fail(Code::bad_input, at("probe"), fmt::format("the host {} is no node of this machine", shown(rank.host)),
                  "are its nodes called otherwise? `rankloom topo show` lists them");
    const Node here = node == nodes.end() ? Node{0} : node->second;
    const auto bound = rank.cpu >= 0 ? by_cpu.find({index(here), static_cast<std::uint32_t>(rank.cpu)}) : by_cpu.end();
    const std::uint32_t first = index(topology.first_core(topology.node_level(), index(here)));
    const std::uint32_t end = index(here) + 1 < topology.node_count()
                                  ? index(topology.first_core(topology.node_level(), index(here) + 1))
                                  : topology.core_count();
    seats.push_back(bound != by_cpu.end() ? bound->second : Core{first + next[index(here)]++ % (end - first)});
  }
  return seats;
}

/// Gives every object whose children stand at a level that level's cost.
void set_costs(ObjectSpec& object, std::size_t level, const std::vector<std::optional<Cost>>& costs,
               const std::vector<std::string>& kinds) {
  if (object.children.empty()) return;
  const auto found = std::find(kinds.begin() + static_cast<std::ptrdiff_t>(std::min(level, kinds.size())), kinds.end(),
                               object.children[0].kind);
  const auto below = static_cast<std::size_t>(found - kinds.begin());
  if (below < costs.size() && costs[below]) object.between = costs[below];
  for (ObjectSpec& child : object.children) set_costs(child, below + 1, costs, kinds);
}

/// Neighbours that do not differ measurably share one cost.
void merge_levels(const LevelCosts& costs, std::vector<ProbeLevel>& levels, const std::vector<std::size_t>& numbers) {
  for (std::size_t i = levels.size(); i-- > 1;) {
    const auto near = costs.times(numbers[i]), far = costs.times(numbers[i - 1]);
    if (differ_measurably(near, far)) continue;
    const auto here = static_cast<double>(near.size()), above = static_cast<double>(far.size());
    const Cost mean{four_digits((levels[i].cost.inverse_bandwidth * here + levels[i - 1].cost.inverse_bandwidth * above) / (here + above)),
                    four_digits((levels[i].cost.latency * here + levels[i - 1].cost.latency * above) / (here + above))};
    for (std::size_t same = i - 1; same < levels.size() && (same <= i || levels[same].merged); ++same) {
      levels[same].cost = mean;
      levels[same].merged = true;
    }
  }
}

}  // namespace

Result<ProbedMachine> calibrate(const Topology& topology, const ProbeTable& table, const ProbeOptions& options) {
  if (topology.routed() || topology.is_matrix())
    return fail(Code::bad_input, at(topology.spec().text), "has no levels to which costs could be given",
                "probe without -t, or give levels such as \"switch:2 node:6 core:16\"");
  auto seats = seats_of(topology, table);
  if (!seats) return propagate(seats);
  const auto levels = topology.levels();
  LevelCosts costs(levels.size(), options);
  for (const ProbePair& pair : table.pairs) {
    const Core a = (*seats)[pair.a], b = (*seats)[pair.b];
    if (a != b) costs.add(topology.divergence_level(a, b), pair);
  }
  ProbedMachine result;
  std::vector<std::size_t> numbers;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (costs.empty(level)) continue;
    result.levels.push_back(costs.level(level, levels[level].kind));
    numbers.push_back(level);
  }
  merge_levels(costs, result.levels, numbers);
  std::vector<std::optional<Cost>> by_level(levels.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) by_level[numbers[i]] = result.levels[i].cost;
  std::vector<std::string> kinds;
  for (const auto& level : levels) kinds.push_back(level.kind);
  result.groups.resize(topology.node_count());
  for (std::uint32_t rank = 0; rank < seats->size(); ++rank)
    result.groups[index(topology.node_of((*seats)[rank]))].push_back(rank);
  result.machine = topology.spec();
  set_costs(result.machine.root, 0, by_level, kinds);
  return result;
}

}  // namespace rankloom
