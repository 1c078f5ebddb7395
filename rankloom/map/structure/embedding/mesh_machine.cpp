// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: the levels of a mesh or torus and of its nodes.
#include "rankloom/map/structure/embedding/mesh_machine.hpp"

#include <variant>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

std::optional<MeshMachine> MeshMachine::of(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  if (!topology.routed()) return std::nullopt;
  const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
  const std::uint32_t cores = topology.core_count() / topology.node_count();
  if (mesh == nullptr || topology.core_count() % topology.node_count() != 0) return std::nullopt;
  for (const Core core : topology.cores()) {
    if (index(topology.node_of(core)) != index(core) / cores ||
        problem.capacities[core] != problem.capacities[Core{index(core) % cores}]) {
      return std::nullopt;
    }
  }
  return MeshMachine(problem, *mesh, cores);
}

Core MeshMachine::core(std::span<const std::uint32_t> position) const {
  std::uint64_t slot = 0, node = 0;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    std::uint64_t& number = levels_[level].in_network ? node : slot;
    number = number * levels_[level].size + position[level];
  }
  return Core{static_cast<std::uint32_t>(node * cores_) + slots_[slot]};
}

MeshMachine::MeshMachine(const MapProblem& problem, const MeshShape& mesh, std::uint32_t cores)
    : cores_(cores), nodes_(problem.topology.node_count()) {
  const Distance distance = make_distance(problem.topology, pairwise_model(problem.model));
  const auto between = [&](std::uint32_t p, std::uint32_t q) {
    return std::visit([&](const auto& d) { return d(Core{p}, Core{q}).per_byte; }, distance);
  };
  const MachineTree tree(problem.topology, problem.capacities);
  for (std::uint32_t core = 0; core < cores; ++core) slots_.insert(slots_.end(), problem.capacities[Core{core}], core);
  const auto nodes = tree.children(tree.root());
  const MachineTree::Part node = nodes_ > 1 ? nodes.front() : tree.root();
  if (tree.symmetric(node)) {
    const std::uint32_t capacity = problem.capacities[Core{0}];
    if (capacity > 1) levels_.push_back({capacity, 0, 0, false, false});
    const auto arities = tree.arities(node);
    std::uint32_t width = 1;
    for (std::size_t depth = arities.size(); depth-- > 0; width *= arities[depth])
      levels_.push_back({arities[depth], between(0, width), 0, false, false});
  } else {
    levels_.push_back({static_cast<std::uint32_t>(slots_.size()), between(0, cores - 1), 0, false, false});
  }
  std::uint32_t nodes_apart = 1;
  for (std::size_t dimension = mesh.sizes.size(); dimension-- > 0; nodes_apart *= mesh.sizes[dimension]) {
    const std::uint32_t size = mesh.sizes[dimension];
    if (size == 1) continue;
    const double one = between(0, nodes_apart * cores);
    const double two = size > 3 || (size > 2 && !mesh.torus) ? between(0, 2 * nodes_apart * cores) : one;
    levels_.push_back({size, one, two - one, true, mesh.torus});
  }
}

}  // namespace rankloom
