// SPDX-License-Identifier: Apache-2.0
// model: networks of nodes with a routing rule. What Topology asks for the cost between nodes, the congestion model for
// the links of a route, and the allocator for the routers that a job's messages pass.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct NetworkShape;

/// A graph of vertices joined by directed links, with one fixed route for each ordered pair of nodes. Vertices
/// 0..node_count-1 are the nodes; in a mesh or torus a node and its router are one vertex, elsewhere routers follow.
/// Everything is computed from the shape: nothing of size nodes x nodes is stored, except the rows of an arbitrary
/// graph that were asked for. Immutable and safe to share between threads.
class Network {
 public:
  virtual ~Network() = default;

  virtual std::uint32_t node_count() const = 0;
  virtual std::uint32_t vertex_count() const = 0;
  virtual std::uint32_t link_count() const = 0;

  /// Links on the route; 0 from a node to itself.
  virtual std::uint32_t hops(Node from, Node to) const = 0;
  /// Sum of the links' costs on the route.
  virtual Cost cost(Node from, Node to) const { return times(per_hop(), hops(from, to)); }
  /// Appends the links of the route in order.
  virtual void route(Node from, Node to, std::vector<Link>& links) const = 0;
  /// The vertices that a link leads from and to.
  virtual std::pair<Vertex, Vertex> ends(Link link) const = 0;
  /// Time per byte of this link relative to the fastest one, so at least 1; a link of half the width has 2.
  virtual double slowness(Link) const { return 1.0; }
  /// Cost of one link where all are equal; of the fastest link elsewhere.
  virtual Cost per_hop() const = 0;
  /// The largest number of hops between two nodes.
  virtual std::uint32_t diameter() const = 0;
  /// cost(a, b) and cost(b, a) are the same for all nodes, but for the rounding of sums of unequal links. Never true
  /// without being so; tables of routes and one-way links are not examined and count as not symmetric.
  virtual bool symmetric() const { return true; }

  /// As it is written in a topology string ("torus:8x8x8=10,500ns"), or "graph" for an arbitrary one.
  virtual std::string text() const = 0;
  /// What it was made from, for writing it out; model/network/networks.hpp has the kinds.
  virtual const NetworkShape& shape() const = 0;

 protected:
  static Cost times(Cost cost, double count) { return {cost.gap * count, cost.latency * count}; }
};

}  // namespace rankloom
