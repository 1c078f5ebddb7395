// SPDX-License-Identifier: Apache-2.0
// map/multilevel: recursive multisection.
#include "rankloom/map/multilevel/multisection.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/near_order.hpp"

namespace rankloom::multilevel {
namespace {

using Part = MachineTree::Part;

class Multisection {
 public:
  Multisection(const MachineTree& tree, const MultisectionEffort& effort, std::span<Core> core_of)
      : tree_(tree), effort_(effort), core_of_(core_of) {}

  void into(const Part& part, const Subgraph& share, std::uint64_t seed) const {
    if (share.original.empty()) return;
    if (part.is_core()) {
      for (const std::uint32_t vertex : share.original) core_of_[vertex] = Core{part.begin};
      return;
    }
    auto children = tree_.children(part);
    if (has_network(tree_, part)) children = near_order(tree_.topology(), children);
    const Division division = divided(share.graph, room_for(part, children, share.graph), effort_.division, seed);
    auto shares = split(share.graph, division.part_of, static_cast<std::uint32_t>(children.size()));
    parallel_chunks(children.size(), 1, [&](std::size_t child, std::size_t) {
      for (std::uint32_t& vertex : shares[child].original) vertex = share.original[vertex];
      into(children[child], shares[child], mix(seed + child));
      shares[child] = {};
    });
  }

 private:
  /// What remains free is not given away at once: each of the cuts still to come gets an equal factor of it.
  std::vector<std::uint64_t> room_for(const Part& part, std::span<const Part> children,
                                      const WeightedGraph& graph) const {
    std::vector<std::uint64_t> room;
    for (const Part& child : children) room.push_back(tree_.places(child));
    if (effort_.pack) return room;
    const double factor = static_cast<double>(tree_.places(part)) / static_cast<double>(graph.total_size());
    const double now = std::log2(static_cast<double>(children.size()));
    const double all = std::log2(static_cast<double>(part.core_count()));
    const double allowed = std::pow(factor, std::max(now / all, getenv("SH") ? atof(getenv("SH")) : 0.0)) / factor;
    for (std::uint64_t& child : room) {
      child = std::min(child, static_cast<std::uint64_t>(std::ceil(static_cast<double>(child) * allowed)));
    }
    return room;
  }

  const MachineTree& tree_;
  const MultisectionEffort& effort_;
  std::span<Core> core_of_;
};

}  // namespace

std::vector<Core> multisected(const WeightedGraph& graph, const MachineTree& tree, const MultisectionEffort& effort,
                              std::uint64_t seed) {
  std::vector<Core> core_of(graph.vertex_count());
  Subgraph whole{graph, std::vector<std::uint32_t>(graph.vertex_count())};
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) whole.original[vertex] = vertex;
  Multisection(tree, effort, core_of).into(tree.root(), whole, seed);
  return core_of;
}

}  // namespace rankloom::multilevel
