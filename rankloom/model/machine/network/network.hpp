// SPDX-License-Identifier: Apache-2.0
// model/machine/network: networks of nodes with deterministic routing. Topology takes the cost between nodes from here,
// the congestion model the links of a route, and the allocator the routers that the messages of a job pass.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct NetworkShape;

/// A graph of vertices and directed links with one fixed route for each ordered pair of nodes. Vertices 0..node_count-1
/// are the nodes; in a mesh or torus a node and its router are one vertex, in other networks the routers follow. All
/// values are computed from the shape: nothing of size nodes x nodes is stored, except for the rows of an arbitrary
/// graph that were requested. Immutable and safe to share between threads.
class Network {
 public:
  virtual ~Network() = default;

  virtual std::uint32_t node_count() const = 0;
  virtual std::uint32_t vertex_count() const = 0;
  virtual std::uint32_t link_count() const = 0;

  /// The number of links on the route; 0 from a node to itself.
  virtual std::uint32_t hops(Node from, Node to) const = 0;
  /// The sum of the costs of the links on the route.
  virtual Cost cost(Node from, Node to) const { return times(per_hop(), hops(from, to)); }
  /// Appends the links of the route in order.
  virtual void route(Node from, Node to, std::vector<Link>& links) const = 0;
  /// The source and the target of a link.
  virtual std::pair<Vertex, Vertex> endpoints(Link link) const = 0;
  /// Inverse bandwidth of this link relative to that of the fastest link: 2 for a link of half the bandwidth.
  virtual double slowness(Link) const { return 1.0; }
  /// The cost of one link if all links are equal, else of the fastest link.
  virtual Cost per_hop() const = 0;
  /// The largest number of hops between two nodes.
  virtual std::uint32_t diameter() const = 0;
  /// Whether cost(a, b) and cost(b, a) are equal for all nodes, except for the rounding of sums of unequal links.
  /// Conservative: routing tables and one-way links are not examined and count as not symmetric.
  virtual bool symmetric() const { return true; }

  /// As in a topology string ("torus:8x8x8=10,500ns"), or "graph" for an arbitrary graph.
  virtual std::string text() const = 0;
  /// The parameters of the network, for writing files; network_shapes.hpp has the kinds.
  virtual const NetworkShape& shape() const = 0;

 protected:
  static Cost times(Cost cost, double count) { return {cost.inverse_bandwidth * count, cost.latency * count}; }
};

}  // namespace rankloom
