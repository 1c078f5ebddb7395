// SPDX-License-Identifier: Apache-2.0
// map/multilevel: recursive multisection.
#include "rankloom/map/multilevel/multisection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/near_order.hpp"

namespace rankloom::multilevel {
namespace {

using Part = MachineTree::Part;

/// The uppermost cut is the dearest: it gets at least this share (as an exponent) of the room that is free.
constexpr double top_share = 0.5;

class Multisection {
 public:
  Multisection(const MachineTree& tree, const Distance& distance, const MultisectionEffort& effort,
               std::span<Core> core_of)
      : tree_(tree), distance_(distance), effort_(effort), light_(effort.division), core_of_(core_of) {
    light_.flows = 0;
    light_.cut.flows = false;
    light_.tries = 1;
    light_.cut.tries = 1;
    for (Part part = tree.root(); !part.is_core(); part = tree.children(part).front()) {
      dearest_ = std::max(dearest_, price(part));
    }
  }

  void into(const Part& part, const Subgraph& share, std::uint64_t seed) const {
    if (share.original.empty()) return;
    if (part.is_core()) {
      for (const std::uint32_t vertex : share.original) core_of_[vertex] = Core{part.begin};
      return;
    }
    auto children = tree_.children(part);
    if (has_network(tree_, part)) children = near_order(tree_.topology(), children);
    const DivisionEffort& effort = price(part) * effort_.cheap >= dearest_ ? effort_.division : light_;
    const Division division = divided(share.graph, room_for(part, children, share.graph), effort, seed);
    auto shares = split(share.graph, division.part_of, static_cast<std::uint32_t>(children.size()));
    parallel_chunks(children.size(), 1, [&](std::size_t child, std::size_t) {
      for (std::uint32_t& vertex : shares[child].original) vertex = share.original[vertex];
      into(children[child], shares[child], mix(seed + child));
      shares[child] = {};
    });
  }

 private:
  double far(const Part& a, const Part& b) const {
    return std::visit([&](const auto& d) { return d(Core{a.begin}, Core{b.begin}).per_byte; }, distance_);
  }
  /// What a byte pays for going from one child to another instead of staying inside.
  double price(const Part& part) const {
    const auto children = tree_.children(part);
    const auto inner = tree_.children(children.front());
    return far(children[0], children[1]) - (inner.empty() ? 0 : far(inner[0], inner[1]));
  }

  /// What remains free is not given away at once: each of the cuts still to come gets an equal factor of it.
  std::vector<std::uint64_t> room_for(const Part& part, std::span<const Part> children,
                                      const WeightedGraph& graph) const {
    std::vector<std::uint64_t> room;
    for (const Part& child : children) room.push_back(tree_.places(child));
    if (effort_.pack) return room;
    const double factor = static_cast<double>(tree_.places(part)) / static_cast<double>(graph.total_size());
    const double now = std::log2(static_cast<double>(children.size()));
    const double all = std::log2(static_cast<double>(part.core_count()));
    const double allowed = std::pow(factor, std::max(now / all, top_share)) / factor;
    for (std::uint64_t& child : room) {
      child = std::min(child, static_cast<std::uint64_t>(std::ceil(static_cast<double>(child) * allowed)));
    }
    return room;
  }

  const MachineTree& tree_;
  const Distance& distance_;
  const MultisectionEffort& effort_;
  DivisionEffort light_;  // for cuts that hardly matter
  double dearest_ = 0;
  std::span<Core> core_of_;
};

}  // namespace

std::vector<Core> multisected(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                              const MultisectionEffort& effort, std::uint64_t seed) {
  std::vector<Core> core_of(graph.vertex_count());
  Subgraph whole{graph, std::vector<std::uint32_t>(graph.vertex_count())};
  std::iota(whole.original.begin(), whole.original.end(), 0U);
  Multisection(tree, distance, effort, core_of).into(tree.root(), whole, seed);
  return core_of;
}

}  // namespace rankloom::multilevel
