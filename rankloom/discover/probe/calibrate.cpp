// SPDX-License-Identifier: Apache-2.0
// discover/probe: replaces the costs of a known machine by measured ones.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/probe/level_detection.hpp"
#include "rankloom/discover/probe/probe_costs.hpp"
#include "rankloom/discover/probe/probe_widths.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// The core of each rank of a probe on a known machine.
Result<std::vector<Core>> cores_of_ranks(const Topology& topology, const ProbeTable& table) {
  std::map<std::string, Node> nodes;
  for (const Node node : topology.nodes()) nodes.emplace(short_host_name(topology.node_name(node)), node);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Core> by_cpu;
  for (const Core core : topology.cores())
    by_cpu.emplace(std::pair{index(topology.node_of(core)), topology.os_index(core)}, core);
  std::map<std::uint32_t, std::uint32_t> next;
  std::vector<Core> cores;
  const bool has_one_node = topology.node_count() == 1;
  for (const ProbeRank& rank : table.ranks) {
    const auto node = nodes.find(std::string(short_host_name(rank.host)));
    if (node == nodes.end() && !has_one_node)
      return fail(Code::bad_input, at("probe"),
                  fmt::format("the host {} is not a node of this machine", printable(rank.host)),
                  "compare it with the node names that `rankloom topo show` lists");
    const Node rank_node = node == nodes.end() ? Node{0} : node->second;
    const auto bound =
        rank.cpu >= 0 ? by_cpu.find({index(rank_node), static_cast<std::uint32_t>(rank.cpu)}) : by_cpu.end();
    const std::uint32_t first = index(topology.first_core(topology.node_level(), index(rank_node)));
    const std::uint32_t end = index(rank_node) + 1 < topology.node_count()
                                  ? index(topology.first_core(topology.node_level(), index(rank_node) + 1))
                                  : topology.core_count();
    cores.push_back(bound != by_cpu.end() ? bound->second : Core{first + next[index(rank_node)]++ % (end - first)});
  }
  return cores;
}

/// Sets the cost of every object to that of the level of its children.
void set_costs(ObjectSpec& object, std::size_t level, const std::vector<std::optional<Cost>>& costs,
               const std::vector<std::string>& kinds) {
  if (object.children.empty()) return;
  const auto found = std::find(kinds.begin() + static_cast<std::ptrdiff_t>(std::min(level, kinds.size())), kinds.end(),
                               object.children[0].kind);
  const auto below = static_cast<std::size_t>(found - kinds.begin());
  if (below < costs.size() && costs[below]) object.between = costs[below];
  for (ObjectSpec& child : object.children) set_costs(child, below + 1, costs, kinds);
}

/// Gives neighbouring levels that do not differ measurably one common cost.
void merge_levels(const LevelCosts& costs, std::vector<ProbeLevel>& levels,
                  const std::vector<std::size_t>& measured_levels) {
  for (std::size_t i = levels.size(); i-- > 1;) {
    const auto lower_times = costs.times(measured_levels[i]), upper_times = costs.times(measured_levels[i - 1]);
    if (differ_measurably(lower_times, upper_times)) continue;
    const auto lower_count = static_cast<double>(lower_times.size()),
               upper_count = static_cast<double>(upper_times.size());
    const Cost mean{
        round_to_four_digits(
            (levels[i].cost.inverse_bandwidth * lower_count + levels[i - 1].cost.inverse_bandwidth * upper_count) /
            (lower_count + upper_count)),
        round_to_four_digits((levels[i].cost.latency * lower_count + levels[i - 1].cost.latency * upper_count) /
                             (lower_count + upper_count))};
    for (std::size_t same = i - 1; same < levels.size() && (same <= i || levels[same].merged); ++same) {
      levels[same].cost = mean;
      levels[same].merged = true;
    }
  }
}

}  // namespace

Result<ProbedMachine> calibrate(const Topology& topology, const ProbeTable& table, const ProbeOptions& options) {
  if (topology.routed() || topology.is_matrix())
    return fail(Code::bad_input, at(topology.spec().text), "the machine has no levels whose costs could be measured",
                "probe without -t, or describe the machine by levels such as \"switch:2 node:6 core:16\"");
  auto cores = cores_of_ranks(topology, table);
  if (!cores) return propagate(cores);
  const auto levels = topology.levels();
  LevelCosts costs(levels.size(), options);
  for (const ProbePair& pair : table.pairs) {
    const Core a = (*cores)[pair.a], b = (*cores)[pair.b];
    if (a != b) costs.add(topology.divergence_level(a, b), pair);
  }
  ProbedMachine result;
  std::vector<std::size_t> measured_levels;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (costs.empty(level)) continue;
    result.levels.push_back(costs.level(level, levels[level].kind));
    measured_levels.push_back(level);
  }
  merge_levels(costs, result.levels, measured_levels);
  std::vector<std::optional<Cost>> by_level(levels.size());
  for (std::size_t i = 0; i < measured_levels.size(); ++i) by_level[measured_levels[i]] = result.levels[i].cost;
  std::vector<std::string> kinds;
  for (const auto& level : levels) kinds.push_back(level.kind);
  result.groups.resize(topology.node_count());
  for (std::uint32_t rank = 0; rank < cores->size(); ++rank)
    result.groups[index(topology.node_of((*cores)[rank]))].push_back(rank);
  result.machine = topology.spec();
  set_costs(result.machine.root, 0, by_level, kinds);
  for (const ProbeLevel& level : result.levels) result.machine.channels.set_cost_origin(level.kind, Origin::measured);
  if (!options.under_load) add_measured_widths(table.loads, result.machine);
  return result;
}

}  // namespace rankloom
