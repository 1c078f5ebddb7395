// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a placement on a network in two steps.
#include "rankloom/map/portfolio/parts_first.hpp"

#include <utility>

namespace rankloom {

namespace {

Core first_core(const Topology& topology, std::uint32_t node) {
  return topology.first_core(topology.node_level(), node);
}

bool nodes_have_equal_slots(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  const std::uint32_t cores = index(first_core(topology, 1));
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    const std::uint32_t first = index(first_core(topology, node));
    if (index(first_core(topology, node + 1)) - first != cores) return false;
    for (std::uint32_t at = 0; at < cores; ++at) {
      if (problem.capacities[Core{first + at}] != problem.capacities[Core{at}]) return false;
    }
  }
  return true;
}

/// The same nodes, all of them at the distance of one hop.
Result<Topology> without_network(const Topology& topology) {
  MachineSpec machine = topology.spec();
  machine.root.between = machine.network->per_hop();
  machine.network.reset();
  machine.text.clear();
  return Topology::build(std::move(machine));
}

/// The same network, with one core per node.
Result<Topology> without_cores(const Topology& topology) {
  MachineSpec machine;
  machine.root.kind = topology.spec().root.kind;
  machine.network = topology.spec().network;
  ObjectSpec node{
      .kind = "node", .name = {}, .repeat = topology.node_count(), .between = {}, .os_index = {}, .children = {}};
  node.children.push_back({.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}});
  machine.root.children.push_back(std::move(node));
  return Topology::build(std::move(machine));
}

CommGraph traffic_between_nodes(const MapProblem& problem, const std::vector<Core>& core_of) {
  const CommGraph& graph = problem.graph;
  CommGraphBuilder builder(problem.topology.node_count());
  for (const Rank from : graph.ranks()) {
    const Rank part{index(problem.topology.node_of(core_of[index(from)]))};
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank other{index(problem.topology.node_of(core_of[index(graph.targets(from)[edge])]))};
      if (other == part) continue;
      builder.add(part, other, graph.bytes(from)[edge], graph.has_messages() ? graph.messages(from)[edge] : 1);
    }
  }
  return std::move(builder).build(graph.has_messages(), graph.undirected());
}

}  // namespace

std::optional<std::vector<Core>> place_parts_first(const MapProblem& problem, const Solve& solve) {
  const Topology& topology = problem.topology;
  if (!topology.routed() || problem.capacities.mixed_shapes() != nullptr ||
      problem.capacities.total() == topology.node_count() || !nodes_have_equal_slots(problem))
    return std::nullopt;
  const auto tree = without_network(topology), nodes = without_cores(topology);
  if (!tree || !nodes) return std::nullopt;
  std::vector<Core> core_of = solve({problem.graph, *tree, problem.capacities, problem.model, {}});
  const CommGraph between_nodes = traffic_between_nodes(problem, core_of);
  const auto one_each = Capacities::of(*nodes, topology.node_count(), {});
  if (!one_each) return std::nullopt;
  const std::vector<Core> node_of = solve({between_nodes, *nodes, *one_each, problem.model, {}});
  for (Core& core : core_of) {
    const std::uint32_t from = index(topology.node_of(core)), to = index(node_of[from]);
    core = Core{index(core) - index(first_core(topology, from)) + index(first_core(topology, to))};
  }
  return core_of;
}

}  // namespace rankloom
