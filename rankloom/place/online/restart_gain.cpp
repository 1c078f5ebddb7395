// SPDX-License-Identifier: Apache-2.0
// place/online: the gain of a restart with another mapping.
#include "rankloom/place/online/restart_gain.hpp"

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {

namespace {

/// The machine of an agent, which has one node, as a child of a larger machine.
ObjectSpec as_node(const RestartNode& node) {
  const ObjectSpec& root = node.machine.root;
  ObjectSpec object;
  if (root.children.size() == 1 && root.children[0].kind == "node" && root.children[0].repeat == 1) {
    object = root.children[0];
  } else {
    object = root;
    object.kind = "node";
  }
  object.name = node.host;
  return object;
}

double bytes_between_nodes(const CommGraph& traffic, const Topology& topology, std::span<const Core> core_of) {
  double bytes = 0;
  for (const Rank from : traffic.ranks()) {
    for (std::size_t i = 0; i < traffic.degree(from); ++i) {
      const Rank to = traffic.targets(from)[i];
      if (topology.node_of(core_of[index(from)]) != topology.node_of(core_of[index(to)]))
        bytes += traffic.bytes(from)[i];
    }
  }
  return bytes;
}

}  // namespace

Result<RestartGain> restart_gain(const CommGraph& traffic, const std::vector<RestartNode>& nodes) {
  MachineSpec machine;
  machine.root.kind = "machine";
  if (nodes.size() > 1) machine.root.between = default_switch_cost(1);
  for (const RestartNode& node : nodes) machine.root.children.push_back(as_node(node));
  auto topology = Topology::build(std::move(machine));
  if (!topology) return propagate(topology);
  auto capacities = Capacities::of(*topology, traffic.rank_count(), {.oversubscribe = true});
  if (!capacities) return propagate(capacities);
  std::vector<Core> start(traffic.rank_count(), Core{0});
  std::size_t placed = 0;
  for (std::uint32_t k = 0; k < nodes.size(); ++k) {
    const std::uint32_t first = index(topology->first_core(topology->node_level(), k));
    for (std::size_t i = 0; i < nodes[k].ranks.size(); ++i) {
      if (nodes[k].ranks[i] >= start.size() || first + nodes[k].cores[i] >= topology->core_count()) continue;
      start[nodes[k].ranks[i]] = Core{first + nodes[k].cores[i]};
      ++placed;
    }
  }
  if (placed != start.size()) {
    return fail(Code::environment, at("agents"),
                fmt::format("the agents observed only {} of {} ranks", placed, start.size()),
                "write the output to a directory that all nodes share");
  }
  auto mapper = make_mapper("auto");
  if (!mapper) return propagate(mapper);
  const MapProblem problem{traffic, *topology, *capacities, CostModel::time, {}};
  auto result = run_mapper(*mapper, problem, MapRun{}, {});
  if (!result) return propagate(result);
  constexpr double nanosecond = 1e-9;
  RestartGain gain;
  gain.cost_start = evaluate(traffic, *topology, start, CostModel::time) * nanosecond;
  gain.cost_mapped = result->cost * nanosecond;
  gain.bytes_start = bytes_between_nodes(traffic, *topology, start);
  gain.bytes_mapped = bytes_between_nodes(traffic, *topology, result->mapping.cores());
  return gain;
}

}  // namespace rankloom
