// SPDX-License-Identifier: Apache-2.0
// model: the models bytes, time, hopbytes and quality are sums over edges of bytes·d(p,q) + messages·l(p,q). This is
// (d, l) for one topology and model as a functor for hot loops; visit() it once, outside the loop.
#pragma once

#include <array>
#include <bit>
#include <variant>

#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The two factors of one pair's cost, smaller is better.
struct PairCost {
  double per_byte = 0;
  double per_message = 0;
};

/// On a tree whose costs depend on the parting level alone: two loads, an exclusive or, a bit count, a table.
class TreeDistance {
 public:
  static constexpr bool always_symmetric = true;
  TreeDistance(const Topology& topology, std::array<PairCost, 65> by_bit)
      : paths_(topology.paths().data()), by_bit_(by_bit) {}
  PairCost operator()(Core p, Core q) const { return between(place(p), place(q)); }

  /// In two parts, for loops that ask about the same core again and again.
  using Place = std::uint64_t;
  Place place(Core core) const { return paths_[index(core)]; }
  const PairCost& between(Place p, Place q) const { return by_bit_[static_cast<std::size_t>(std::bit_width(p ^ q))]; }

 private:
  const std::uint64_t* paths_;
  std::array<PairCost, 65> by_bit_;
};

/// On every topology: networks, uneven costs, tables.
class AnyDistance {
 public:
  static constexpr bool always_symmetric = false;
  AnyDistance(const Topology& topology, CostModel model);
  PairCost operator()(Core p, Core q) const;

  using Place = Core;
  Place place(Core core) const { return core; }
  PairCost between(Place p, Place q) const { return (*this)(p, q); }

 private:
  const Topology* topology_;
  CostModel model_;
  Cost least_;  // for quality: stands for a core with itself; without a latency, gaps serve
};

using Distance = std::variant<TreeDistance, AnyDistance>;

/// For every model but congestion. The topology must outlive it.
Distance make_distance(const Topology& topology, CostModel model);

}  // namespace rankloom
