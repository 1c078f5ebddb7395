// SPDX-License-Identifier: Apache-2.0
// place: the placement that a launcher chose when a profile was recorded.
#include "rankloom/place/recorded_placement.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/place/deployment.hpp"

namespace rankloom {

namespace {

/// Finds the slots of a node by the numbers of its processing units.
class NodeSlots {
 public:
  NodeSlots(const Topology& topology, const Capacities& capacities, Node node) {
    const auto begin = index(topology.first_core(topology.node_level(), index(node)));
    const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
    std::optional<Core> slot;
    for (auto leaf = begin; leaf < end; ++leaf) {
      // A slot begins with the leaf that has a capacity.
      if (capacities.slots(topology, Core{leaf}) > 0) slot = Core{leaf};
      if (slot) slots_of_[topology.os_index(Core{leaf})].push_back(*slot);
    }
  }

  /// The slots with at least one of these units, each once.
  std::vector<Core> find(const std::vector<std::uint32_t>& cpus) const {
    std::vector<Core> slots;
    for (const std::uint32_t cpu : cpus) {
      const auto found = slots_of_.find(cpu);
      if (found != slots_of_.end()) slots.insert(slots.end(), found->second.begin(), found->second.end());
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    return slots;
  }

 private:
  std::map<std::uint32_t, std::vector<Core>> slots_of_;  // by the number of the unit
};

/// Ranks with the same processing units, and the slots among which they had the choice.
struct Choice {
  std::uint64_t ranks = 0, placed = 0;
  std::vector<Core> slots;

  /// The operating system spreads ranks over the cores on which they may run. Which rank is where is not known:
  /// neighbours are taken to be next to each other.
  std::optional<Core> next(const IdVector<Core, std::uint32_t>& ranks_on) {
    if (slots.empty()) return std::nullopt;
    const std::size_t first = ranks <= slots.size() ? placed * slots.size() / ranks : 0;
    ++placed;
    std::size_t best = first;
    for (std::size_t i = 1; i < slots.size() && ranks_on[slots[best]] > 0; ++i) {
      const std::size_t slot = (first + i) % slots.size();
      if (ranks_on[slots[slot]] < ranks_on[slots[best]]) best = slot;
    }
    return slots[best];
  }
};

Failure unknown(std::string what) {
  return fail(Code::bad_input, at("profile"), std::move(what), "the default placement is used instead");
}

}  // namespace

Result<std::vector<Core>> recorded_placement(const Locations& locations, const Topology& topology,
                                             const Capacities& capacities) {
  if (locations.of_ranks.empty()) return unknown("the placement of the ranks is not recorded");
  if (!names_its_hosts(topology)) return unknown("the machine does not name its hosts");
  // "node1" and "node1.cluster" are one host; "a.x" and "a.y" are two.
  std::map<std::string, Node, std::less<>> full, of_short_name, of_plain_name;
  for (const Node node : topology.nodes()) {
    const std::string name = topology.node_name(node);
    full.emplace(name, node);
    of_short_name.emplace(short_host_name(name), node);
    if (name.find('.') == std::string::npos) of_plain_name.emplace(name, node);
  }
  std::vector<std::optional<Node>> node_of_host;
  for (const std::string& host : locations.hosts) {
    const auto find = [&](const auto& names, std::string_view name) -> std::optional<Node> {
      const auto found = names.find(name);
      return found == names.end() ? std::nullopt : std::optional(found->second);
    };
    auto node = find(full, host);
    if (!node)
      node =
          host.find('.') == std::string::npos ? find(of_short_name, host) : find(of_plain_name, short_host_name(host));
    node_of_host.push_back(node);
  }
  std::vector<std::vector<std::uint32_t>> cpus;
  for (const std::string& text : locations.cpu_sets)
    cpus.push_back(parse_number_ranges(text).value_or(std::vector<std::uint32_t>()));
  std::map<Node, NodeSlots> slots_of_node;
  std::map<std::pair<Node, std::uint32_t>, Choice> choices;  // of a node and a set of units
  for (const Locations::OfRank& rank : locations.of_ranks) {
    if (const auto node = node_of_host[rank.host]) ++choices[{*node, rank.cpus}].ranks;
  }
  IdVector<Core, std::uint32_t> ranks_on(topology.core_count(), 0);
  std::vector<Core> core_of;
  core_of.reserve(locations.of_ranks.size());
  for (const Locations::OfRank& rank : locations.of_ranks) {
    const auto node = node_of_host[rank.host];
    if (!node)
      return unknown(fmt::format("rank {} was on {}, which is not a node of the machine", core_of.size(),
                                 locations.hosts[rank.host].empty() ? "an unknown host" : locations.hosts[rank.host]));
    Choice& choice = choices[{*node, rank.cpus}];
    if (choice.placed == 0)
      choice.slots = slots_of_node.try_emplace(*node, topology, capacities, *node).first->second.find(cpus[rank.cpus]);
    const auto best = choice.next(ranks_on);
    if (!best)
      return unknown(fmt::format("rank {} was on processing units {} of {}, which the machine does not have",
                                 core_of.size(), locations.cpu_sets[rank.cpus], locations.hosts[rank.host]));
    if (++ranks_on[*best] > capacities[*best])
      return unknown(fmt::format("the recorded placement has more ranks on core {} than its capacity", index(*best)));
    core_of.push_back(*best);
  }
  return core_of;
}

}  // namespace rankloom
