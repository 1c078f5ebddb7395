// SPDX-License-Identifier: Apache-2.0
// model/machine: the distance between cores, as a functor for hot loops. The cost models bytes, time, hopbytes and
// quality are sums over edges of bytes·d(p,q) + messages·l(p,q). A Distance is (d, l) for one topology and model;
// visit() the variant once, outside the loop.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The two factors of the cost of one pair; smaller is better.
struct PairCost {
  double per_byte = 0;
  double per_message = 0;
};

/// For trees whose costs depend on the divergence level alone: two loads, an XOR, a bit count and a table lookup.
class TreeDistance {
 public:
  static constexpr bool always_symmetric = true;
  TreeDistance(const Topology& topology, std::array<PairCost, 65> by_bit)
      : paths_(topology.paths().data()), by_bit_(by_bit) {}
  PairCost operator()(Core p, Core q) const { return between(key(p), key(q)); }

  /// The same in two steps, for loops that use one core repeatedly.
  using CoreKey = std::uint64_t;
  CoreKey key(Core core) const { return paths_[index(core)]; }
  const PairCost& between(CoreKey p, CoreKey q) const {
    return by_bit_[static_cast<std::size_t>(std::bit_width(p ^ q))];
  }

 private:
  const std::uint64_t* paths_;
  std::array<PairCost, 65> by_bit_;
};

/// Distances inside the nodes of a network if they depend on the level alone.
class InsideNodes {
 public:
  static std::optional<InsideNodes> of(const Topology& topology, CostModel model);
  /// Null: the cores are in different nodes.
  const PairCost* operator()(Core p, Core q) const {
    const auto bit = static_cast<std::size_t>(std::bit_width(paths_[index(p)] ^ paths_[index(q)]));
    return bit < first_node_bit_ ? &inside_[bit] : nullptr;
  }

 private:
  const std::uint64_t* paths_ = nullptr;
  std::size_t first_node_bit_ = 65;  // the lowest bit in which cores of different nodes differ, counted from 1
  std::array<PairCost, 65> inside_{};
};

/// For meshes and tori of nodes whose inner costs depend on the level alone: a loop over stored coordinates.
class MeshDistance {
 public:
  static constexpr bool always_symmetric = true;
  /// Nothing if the machine or the model needs a GeneralDistance. 2 bytes per core and dimension.
  static std::optional<MeshDistance> of(const Topology& topology, CostModel model);
  PairCost operator()(Core p, Core q) const {
    if (const PairCost* const cost = inside_(p, q)) return *cost;
    const std::uint16_t* const a = coordinates_.get() + index(p) * dimensions_;
    const std::uint16_t* const b = coordinates_.get() + index(q) * dimensions_;
    int hops = 0;
    for (std::size_t dimension = 0; dimension < dimensions_; ++dimension) {
      const int steps = std::abs(a[dimension] - b[dimension]);
      hops += std::min(steps, wrap_[dimension] - steps);
    }
    return {per_hop_.per_byte * hops, per_hop_.per_message * hops};
  }

  using CoreKey = Core;
  CoreKey key(Core core) const { return core; }
  PairCost between(CoreKey p, CoreKey q) const { return (*this)(p, q); }

 private:
  static constexpr std::size_t max_dimensions = 8;
  explicit MeshDistance(const InsideNodes& inside) : inside_(inside) {}

  InsideNodes inside_;
  std::shared_ptr<const std::uint16_t[]> coordinates_;  // by core and dimension
  std::size_t dimensions_ = 0;
  std::array<int, max_dimensions> wrap_{};  // torus: the size; mesh: more than twice the size
  PairCost per_hop_;
};

/// For every topology: networks, costs that differ within a level, matrices.
class GeneralDistance {
 public:
  static constexpr bool always_symmetric = false;
  GeneralDistance(const Topology& topology, CostModel model);
  PairCost operator()(Core p, Core q) const {
    if (!nodes_) return of_topology(p, q);
    if (const PairCost* const cost = nodes_->inside(p, q)) return *cost;
    const double hops = nodes_->network->hops(nodes_->of_core[index(p)], nodes_->of_core[index(q)]);
    return {nodes_->per_hop.per_byte * hops, nodes_->per_hop.per_message * hops};
  }

  using CoreKey = Core;
  CoreKey key(Core core) const { return core; }
  PairCost between(CoreKey p, CoreKey q) const { return (*this)(p, q); }

 private:
  /// Of a network with equal links.
  struct Nodes {
    InsideNodes inside;
    const Network* network;
    std::vector<Node> of_core;
    PairCost per_hop;
  };
  PairCost of_topology(Core p, Core q) const;

  const Topology* topology_;
  CostModel model_;
  Cost min_cost_;                       // for quality: the distance of a core to itself
  std::shared_ptr<const Nodes> nodes_;  // a faster way, or null
};

using Distance = std::variant<TreeDistance, MeshDistance, GeneralDistance>;

/// For every model that is its own pairwise_model(). The topology must outlive the result.
Distance make_distance(const Topology& topology, CostModel model);

}  // namespace rankloom
