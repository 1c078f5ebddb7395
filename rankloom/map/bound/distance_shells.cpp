// SPDX-License-Identifier: Apache-2.0
// map/bound: shells of trees, networks and distance tables.
#include "rankloom/map/bound/distance_shells.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

/// In larger networks without symmetry, pairs of nodes are not evaluated.
constexpr std::uint32_t max_nodes = 2048;

PairCost min_of(PairCost a, PairCost b) {
  return {std::min(a.per_byte, b.per_byte), std::min(a.per_message, b.per_message)};
}

PairCost distance_between(const Distance& distance, Core p, Core q) {
  return std::visit([&](const auto& concrete) { return concrete(p, q); }, distance);
}

/// The number of slots of the largest object of a level.
std::uint64_t max_slots(const MapProblem& problem, std::size_t level) {
  const std::uint64_t objects = problem.topology.levels()[level].objects;
  std::uint64_t result = 0;
  for (std::uint32_t object = 0; object < objects; ++object) {
    const std::uint32_t begin = index(problem.topology.first_core(level, object));
    const std::uint32_t end = index(problem.topology.first_core(level, object + 1));
    std::uint64_t slots = 0;
    if (problem.capacities.is_one_each()) {
      slots = end - begin;
    } else {
      for (std::uint32_t core = begin; core < end; ++core) slots += problem.capacities[Core{core}];
    }
    result = std::max(result, slots);
  }
  return result;
}

/// The minimum cost between cores whose paths diverge at this level; nothing if there are none.
std::optional<PairCost> divergence_cost(const Topology& topology, const Distance& distance, std::size_t level) {
  std::optional<PairCost> minimum;
  for (std::uint32_t object = 0; object + 1 < topology.levels()[level].objects; ++object) {
    const Core core = topology.first_core(level, object);
    const Core next = topology.first_core(level, object + 1);
    if (topology.divergence_level(core, next) != level) continue;
    const PairCost cost = distance_between(distance, core, next);
    minimum = minimum ? min_of(*minimum, cost) : cost;
    if (topology.levels()[level].cost) break;  // the same everywhere
  }
  return minimum;
}

/// An object of the machine with `slots` slots, inside which a pair costs at least `inside`.
struct NestedObject {
  std::uint64_t slots;
  PairCost inside;
};

/// The objects around a core from level `highest` down, the smallest first. Costs do not fall outwards: if an outer
/// level is cheaper than an inner one, which no real machine has, the inner one gets the cost of the outer one.
std::vector<NestedObject> nested_objects(const MapProblem& problem, const Distance& distance, std::size_t highest) {
  const Topology& topology = problem.topology;
  std::vector<NestedObject> outside_in;
  std::optional<PairCost> minimum;
  for (std::size_t level = highest; level <= topology.levels().size(); ++level) {
    // Inside an object of the level above, paths diverge at this level; at the last level, both ranks share a core.
    const bool same_core = level == topology.levels().size();
    const auto cost = same_core ? std::optional(distance_between(distance, Core{0}, Core{0}))
                                : divergence_cost(topology, distance, level);
    if (!cost) continue;
    minimum = minimum ? min_of(*minimum, *cost) : *cost;
    const std::uint64_t slots = level == 0 ? problem.capacities.total() : max_slots(problem, level - 1);
    outside_in.push_back({slots, *minimum});
  }
  return {outside_in.rbegin(), outside_in.rend()};
}

DistanceShells shells_of_tree(const MapProblem& problem, const Distance& distance) {
  const auto objects = nested_objects(problem, distance, 0);
  DistanceShells result{objects[0].inside, distance_between(distance, Core{0}, Core{0}), {}};
  for (std::size_t at = 0; at + 1 < objects.size(); ++at) {
    const PairCost inside = objects[at].inside;
    const PairCost outside = objects[at + 1].inside;
    result.shells.push_back(
        {objects[at].slots, {outside.per_byte - inside.per_byte, outside.per_message - inside.per_message}, true});
  }
  return result;
}

/// A number of slots at the same cost.
struct SlotsAtCost {
  double cost;
  std::uint64_t slots;
};

/// For k = 1, 2, …: the minimum over all nodes of the cost of the k-th closest slot.
class ClosestSlots {
 public:
  explicit ClosestSlots(std::uint64_t count) : min_cost_(count, std::numeric_limits<double>::infinity()) {}

  /// Adds the surroundings of one node, in any order.
  void add_node(std::vector<SlotsAtCost>& around) {
    std::sort(around.begin(), around.end(), [](const SlotsAtCost& a, const SlotsAtCost& b) { return a.cost < b.cost; });
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    for (const SlotsAtCost& group : around) {
      for (std::uint64_t slot = 0; slot < group.slots && at < min_cost_.size(); ++slot, ++at) {
        min_cost_[at] = std::min(min_cost_[at], group.cost);
      }
      if (at == min_cost_.size()) return;
    }
  }

  /// Adds a shell wherever the cost rises.
  template <class ToPair>
  void add_to(DistanceShells& result, double& nearest, ToPair to_pair) const {
    if (min_cost_.empty() || !(min_cost_[0] < std::numeric_limits<double>::infinity())) return;
    nearest = min_cost_[0];
    for (std::size_t at = 1; at < min_cost_.size(); ++at) {
      // No rank has more partners than there are slots.
      if (!(min_cost_[at] < std::numeric_limits<double>::infinity())) return;
      if (min_cost_[at] > min_cost_[at - 1])
        result.shells.push_back({at + 1, to_pair(min_cost_[at] - min_cost_[at - 1]), false});
    }
  }

 private:
  std::mutex mutex_;
  std::vector<double> min_cost_;
};

/// One node whose other nodes are at least as close as those of any node, if the network has such a node; otherwise
/// all.
std::vector<Node> nodes_to_evaluate(const Topology& topology) {
  if (topology.routed()) {
    if (const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape())) {
      // Within any distance, the centre of a mesh has at least as many nodes as any other; on a torus all are equal.
      std::uint32_t centre = 0;
      for (const std::uint32_t size : mesh->sizes) centre = centre * size + size / 2;
      return {Node{centre}};
    }
  }
  return {topology.nodes().begin(), topology.nodes().end()};
}

/// Networks and tables: evaluates pairs of nodes; inside a node, uses the objects of the largest node.
DistanceShells shells_of_network(const MapProblem& problem, const Distance& distance, std::uint64_t max_partners) {
  const Topology& topology = problem.topology;
  const auto inside = nested_objects(problem, distance, topology.node_level() + 1);
  const auto evaluated = nodes_to_evaluate(topology);
  std::vector<std::uint64_t> slots_of_node;
  for (const Node node : topology.nodes()) {
    std::uint64_t slots = 0;
    const std::size_t level = topology.node_level();
    for (std::uint32_t core = index(topology.first_core(level, index(node)));
         core < index(topology.first_core(level, index(node) + 1)); ++core) {
      slots += problem.capacities[Core{core}];
    }
    slots_of_node.push_back(slots);
  }
  // If one node represents all, every node gets the largest number of slots.
  if (evaluated.size() < slots_of_node.size()) {
    slots_of_node.assign(slots_of_node.size(), *std::max_element(slots_of_node.begin(), slots_of_node.end()));
  }

  ClosestSlots bytes(max_partners), messages(max_partners);
  parallel_chunks(evaluated.size(), 16, [&](std::size_t begin, std::size_t end) {
    std::vector<SlotsAtCost> by_bytes, by_messages;
    for (std::size_t at = begin; at < end; ++at) {
      if (slots_of_node[index(evaluated[at])] == 0) continue;
      const Core core = topology.first_core(topology.node_level(), index(evaluated[at]));
      by_bytes.clear();
      by_messages.clear();
      const auto add = [&](PairCost cost, std::uint64_t slots) {
        by_bytes.push_back({cost.per_byte, slots});
        by_messages.push_back({cost.per_message, slots});
      };
      std::uint64_t inner_slots = 1;  // that of the rank itself
      for (const NestedObject& object : inside) {
        if (object.slots <= inner_slots) continue;
        // A core of a table may be at any distance from itself.
        add(topology.is_matrix() ? distance_between(distance, core, core) : object.inside, object.slots - inner_slots);
        inner_slots = object.slots;
      }
      for (const Node other : topology.nodes()) {
        if (index(other) == index(evaluated[at]) || slots_of_node[index(other)] == 0) continue;
        const Core other_core = topology.first_core(topology.node_level(), index(other));
        add(min_of(distance_between(distance, core, other_core), distance_between(distance, other_core, core)),
            slots_of_node[index(other)]);
      }
      bytes.add_node(by_bytes);
      messages.add_node(by_messages);
    }
  });

  DistanceShells result{{}, distance_between(distance, Core{0}, Core{0}), {}};
  for (const Core core : topology.cores()) {
    if (!topology.is_matrix()) break;
    result.self = min_of(result.self, distance_between(distance, core, core));
  }
  bytes.add_to(result, result.nearest.per_byte, [](double step) { return PairCost{step, 0}; });
  messages.add_to(result, result.nearest.per_message, [](double step) { return PairCost{0, step}; });
  return result;
}

/// For networks that are too large to evaluate: all nodes count as adjacent.
DistanceShells shells_of_large_network(const MapProblem& problem, const Distance& distance) {
  const PairCost same_core = distance_between(distance, Core{0}, Core{0});
  const Cost min_cost = problem.topology.min_cost();
  PairCost between_cores = same_core;  // under `quality`, no pair is closer than the cores of one node
  if (problem.model == CostModel::bytes) between_cores = {min_cost.inverse_bandwidth, 0};
  if (problem.model == CostModel::time) between_cores = {min_cost.inverse_bandwidth, min_cost.latency};
  if (problem.model == CostModel::hopbytes) between_cores = {0, 0};  // there are no hops inside a node
  DistanceShells result{same_core, same_core, {}};
  result.shells.push_back({max_slots(problem, problem.topology.levels().size() - 1),
                           {std::max(0.0, between_cores.per_byte - same_core.per_byte),
                            std::max(0.0, between_cores.per_message - same_core.per_message)},
                           true});
  return result;
}

}  // namespace

DistanceShells distance_shells(const MapProblem& problem, std::uint64_t max_partners) {
  const Topology& topology = problem.topology;
  const Distance distance = make_distance(topology, problem.model);
  // If the nodes differ in their rails, their first cores may be on different rails.
  if (topology.rail_count() > 0 && !topology.symmetric()) return shells_of_large_network(problem, distance);
  if (!topology.routed() && !topology.is_matrix()) return shells_of_tree(problem, distance);
  const std::size_t nodes = nodes_to_evaluate(topology).size();
  if (nodes > max_nodes && !topology.is_matrix()) return shells_of_large_network(problem, distance);
  return shells_of_network(problem, distance, max_partners);
}

}  // namespace rankloom
