// SPDX-License-Identifier: Apache-2.0
// place/online: what the next start with another mapping would gain.
#include "rankloom/place/online/restart.hpp"

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {

namespace {

/// A machine of one node as an object below a larger one.
ObjectSpec node_of(const RestartNode& node) {
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
  MachineSpec whole;
  whole.root.kind = "machine";
  if (nodes.size() > 1) whole.root.between = default_switch_cost(1);
  for (const RestartNode& node : nodes) whole.root.children.push_back(node_of(node));
  auto topology = Topology::build(std::move(whole));
  if (!topology) return propagate(topology);
  auto slots = Capacities::of(*topology, traffic.rank_count(), {.oversubscribe = true});
  if (!slots) return propagate(slots);
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
    return fail(Code::environment, at("agents"), fmt::format("{} of {} ranks were watched", placed, start.size()),
                "all nodes must see the folder of the output under the same name");
  }
  auto mapper = make_mapper("auto");
  if (!mapper) return propagate(mapper);
  const MapProblem problem{traffic, *topology, *slots, CostModel::time, {}};
  auto found = run_mapper(*mapper, problem, MapRun{}, {});
  if (!found) return propagate(found);
  constexpr double nanosecond = 1e-9;
  RestartGain gain;
  gain.cost_start = evaluate(traffic, *topology, start, CostModel::time) * nanosecond;
  gain.cost_mapped = found->cost * nanosecond;
  gain.bytes_start = bytes_between_nodes(traffic, *topology, start);
  gain.bytes_mapped = bytes_between_nodes(traffic, *topology, found->mapping.cores());
  return gain;
}

}  // namespace rankloom
