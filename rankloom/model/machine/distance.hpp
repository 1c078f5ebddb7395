// SPDX-License-Identifier: Apache-2.0
// model/machine: the distance between cores, as a functor for hot loops. The cost models bytes, time, hopbytes and
// quality are sums over edges of bytes·d(p,q) + messages·l(p,q). A Distance is (d, l) for one topology and model;
// visit() the variant once, outside the loop.
#pragma once

#include <array>
#include <bit>
#include <variant>

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

/// For every topology: networks, costs that differ within a level, matrices.
class GeneralDistance {
 public:
  static constexpr bool always_symmetric = false;
  GeneralDistance(const Topology& topology, CostModel model);
  PairCost operator()(Core p, Core q) const;

  using CoreKey = Core;
  CoreKey key(Core core) const { return core; }
  PairCost between(CoreKey p, CoreKey q) const { return (*this)(p, q); }

 private:
  const Topology* topology_;
  CostModel model_;
  Cost min_cost_;  // for quality: the distance of a core to itself
};

using Distance = std::variant<TreeDistance, GeneralDistance>;

/// For every model that is its own pairwise_model(). The topology must outlive the result.
Distance make_distance(const Topology& topology, CostModel model);

}  // namespace rankloom
