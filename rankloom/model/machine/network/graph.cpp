// SPDX-License-Identifier: Apache-2.0
// model/machine/network: arbitrary graphs, routed by shortest paths or by tables.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

/// One direction of a cable.
struct GraphLink {
  std::uint32_t from, to;
  Cost cost;
  /// The cost as a multiple of at most 2^-40 of the most expensive link. Sums of such integers are exact, so that the
  /// comparison of two routes does not depend on the order of summation.
  std::uint64_t inverse_bandwidth_units, latency_units;
};

/// The links in compressed rows by source and by target, and breadth-first search.
class GraphWiring {
 public:
  static constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

  explicit GraphWiring(const GraphShape& shape) : nodes_(shape.nodes), nodes_forward_(shape.nodes_forward) {
    int bandwidth_exponent = 0, latency_exponent = 0;
    double inverse_bandwidth = 0, latency = 0;
    for (const GraphShape::Cable& cable : shape.cables) {
      inverse_bandwidth = std::max(inverse_bandwidth, cable.cost.inverse_bandwidth);
      latency = std::max(latency, cable.cost.latency);
    }
    std::frexp(inverse_bandwidth, &bandwidth_exponent);
    std::frexp(latency, &latency_exponent);
    for (const auto& [a, b, cost, one_way] : shape.cables) {
      const auto inverse_bandwidth_units =
          static_cast<std::uint64_t>(std::llround(std::ldexp(cost.inverse_bandwidth, 40 - bandwidth_exponent)));
      const auto latency_units =
          static_cast<std::uint64_t>(std::llround(std::ldexp(cost.latency, 40 - latency_exponent)));
      links_.push_back({index(a), index(b), cost, inverse_bandwidth_units, latency_units});
      if (!one_way) links_.push_back({index(b), index(a), cost, inverse_bandwidth_units, latency_units});
    }
    out_ = rows(shape.vertices, &GraphLink::from, &GraphLink::to);
    in_ = rows(shape.vertices, &GraphLink::to, &GraphLink::from);
  }

  std::span<const GraphLink> links() const { return links_; }
  std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(out_.first.size() - 1); }
  /// Numbers of the outgoing links of a vertex, sorted by target, then by cost.
  std::span<const std::uint32_t> out(std::uint32_t vertex) const { return out_.of(vertex); }
  std::span<const std::uint32_t> in(std::uint32_t vertex) const { return in_.of(vertex); }
  bool forwards(std::uint32_t vertex) const { return nodes_forward_ || vertex >= nodes_; }

  enum class Direction : std::uint8_t { from_start, to_start };
  /// Hops between the start and every vertex by breadth-first search; `order` receives the reached vertices in order of
  /// distance.
  std::vector<std::uint32_t> distances(std::uint32_t start, Direction direction,
                                       std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> hops(vertex_count(), unreached);
    order.assign(1, start);
    hops[start] = 0;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::uint32_t v = order[at];
      if (v != start && !forwards(v)) continue;
      for (const std::uint32_t link : direction == Direction::to_start ? in(v) : out(v)) {
        const std::uint32_t next = direction == Direction::to_start ? links_[link].from : links_[link].to;
        if (hops[next] != unreached) continue;
        hops[next] = hops[v] + 1;
        order.push_back(next);
      }
    }
    return hops;
  }

 private:
  struct Rows {
    std::vector<std::uint32_t> first, links;
    std::span<const std::uint32_t> of(std::uint32_t vertex) const {
      return std::span(links).subspan(first[vertex], first[vertex + 1] - first[vertex]);
    }
  };

  Rows rows(std::uint32_t vertices, std::uint32_t GraphLink::*owner, std::uint32_t GraphLink::*other) const {
    Rows result;
    result.first.resize(std::size_t{vertices} + 1);
    result.links.resize(links_.size());
    for (std::uint32_t link = 0; link < links_.size(); ++link) result.links[link] = link;
    const auto key = [&](std::uint32_t number) {
      const GraphLink& link = links_[number];
      return std::tuple(link.*owner, link.*other, link.inverse_bandwidth_units, link.latency_units, number);
    };
    std::sort(result.links.begin(), result.links.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const GraphLink& link : links_) ++result.first[link.*owner + 1];
    for (std::size_t v = 0; v < vertices; ++v) result.first[v + 1] += result.first[v];
    return result;
  }

  std::uint32_t nodes_;
  bool nodes_forward_;
  std::vector<GraphLink> links_;
  Rows out_, in_;
};

constexpr std::uint32_t none = GraphWiring::unreached;

/// The routes to one destination.
struct Row {
  std::vector<std::uint32_t> next;  // by vertex: the next link; none: no route passes this vertex
  std::vector<std::uint32_t> hops;  // by node
  std::vector<Cost> cost;           // by node; empty if all links have the same cost
};

/// Sums hops and costs along `next`; every vertex in `order` follows the target of its link.
void add_up(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::span<const std::uint32_t> order,
            Row& row) {
  std::vector<std::uint32_t> hops(row.next.size());
  std::vector<Cost> cost(with_cost ? row.next.size() : 0);
  for (const std::uint32_t v : order) {
    if (row.next[v] == none) continue;  // the destination
    const GraphLink& link = wiring.links()[row.next[v]];
    hops[v] = hops[link.to] + 1;
    if (with_cost)
      cost[v] = {cost[link.to].inverse_bandwidth + link.cost.inverse_bandwidth,
                 cost[link.to].latency + link.cost.latency};
  }
  hops.resize(nodes);
  row.hops = std::move(hops);
  if (with_cost) cost.resize(nodes);
  row.cost = std::move(cost);
}

/// Fewest hops, then lowest inverse bandwidth, then lowest latency, then lowest vertex number.
Row shortest_row(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::uint32_t destination) {
  std::vector<std::uint32_t> order;
  const auto distance = wiring.distances(destination, GraphWiring::Direction::to_start, order);
  using Units = std::pair<std::uint64_t, std::uint64_t>;  // inverse bandwidth, latency
  std::vector<Units> units(distance.size());
  Row row{.next = std::vector<std::uint32_t>(distance.size(), none), .hops = {}, .cost = {}};
  for (const std::uint32_t v : std::span(order).subspan(1)) {
    for (const std::uint32_t number : wiring.out(v)) {
      const GraphLink& link = wiring.links()[number];
      if (distance[link.to] != distance[v] - 1 || !(link.to == destination || wiring.forwards(link.to))) continue;
      const Units sum{units[link.to].first + link.inverse_bandwidth_units, units[link.to].second + link.latency_units};
      if (row.next[v] != none && !(sum < units[v])) continue;
      units[v] = sum;
      row.next[v] = number;
    }
  }
  add_up(wiring, nodes, with_cost, order, row);
  return row;
}

Failure bad_table(std::uint32_t destination, std::uint32_t vertex, std::string_view what) {
  return bad_network("graph", fmt::format("the table of destination {} {} at vertex {}", destination, what, vertex),
                     "each entry must be a neighbour on the way to the destination");
}

/// The link with the lowest cost between two vertices.
std::optional<std::uint32_t> find_link(const GraphWiring& wiring, std::uint32_t from, std::uint32_t to) {
  const auto row = wiring.out(from);
  const auto link = std::partition_point(row.begin(), row.end(),
                                         [&](std::uint32_t number) { return wiring.links()[number].to < to; });
  if (link == row.end() || wiring.links()[*link].to != to) return std::nullopt;
  return *link;
}

/// Follows the table from every node; fails if the table does not lead to the destination.
Result<Row> table_row(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::uint32_t destination,
                      const std::vector<Vertex>& table) {
  Row row{.next = std::vector<std::uint32_t>(wiring.vertex_count(), none), .hops = {}, .cost = {}};
  std::vector<bool> arrives(wiring.vertex_count());
  arrives[destination] = true;
  std::vector<std::uint32_t> order, path;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    path.clear();
    for (std::uint32_t v = node, to = 0; !arrives[v]; v = to) {
      to = index(table[v]);
      if (row.next[v] != none) return bad_table(destination, v, "contains a cycle");
      const auto link = find_link(wiring, v, to);
      if (!link) return bad_table(destination, v, fmt::format("goes to {}, which is not a neighbour,", to));
      if (to != destination && !wiring.forwards(to))
        return bad_table(destination, v, "goes through a node that does not forward");
      row.next[v] = *link;
      path.push_back(v);
    }
    for (; !path.empty(); path.pop_back()) {
      arrives[path.back()] = true;
      order.push_back(path.back());
    }
  }
  add_up(wiring, nodes, with_cost, order, row);
  return row;
}

class Graph final : public Network {
 public:
  explicit Graph(GraphShape shape)
      : shape_(std::move(shape)),
        graph_(std::get<GraphShape>(shape_)),
        wiring_(graph_),
        rows_(std::make_unique<std::atomic<const Row*>[]>(graph_.nodes)) {
    if (wiring_.links().empty()) return;
    fastest_ = wiring_.links()[0].cost;
    for (const GraphLink& link : wiring_.links()) {
      uneven_ |= link.cost != fastest_;
      if (link.cost.inverse_bandwidth < fastest_.inverse_bandwidth) fastest_ = link.cost;
    }
    for (const GraphShape::Cable& cable : graph_.cables) one_way_ |= cable.one_way;
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() override {
    for (std::uint32_t node = 0; node < graph_.nodes; ++node) delete rows_[node].load();
  }

  /// Checks that every route exists: follows routing tables once, or searches paths.
  Result<void> check() const {
    if (!graph_.next.empty()) {
      for (std::uint32_t destination = 0; destination < graph_.nodes; ++destination) {
        auto row = table_row(wiring_, graph_.nodes, false, destination, graph_.next[destination]);
        if (!row) return propagate(row);
      }
      return {};
    }
    if (is_strongly_connected_through_hub()) return {};
    std::vector<std::uint32_t> order;
    for (std::uint32_t destination = 0; destination < graph_.nodes; ++destination) {
      const auto hops = wiring_.distances(destination, GraphWiring::Direction::to_start, order);
      const auto unreachable = std::find(hops.begin(), hops.begin() + graph_.nodes, none);
      if (unreachable == hops.begin() + graph_.nodes) continue;
      return bad_network("graph", fmt::format("node {} cannot reach node {}", unreachable - hops.begin(), destination),
                         "add the missing cables, or set nodes_forward");
    }
    return {};
  }

  std::uint32_t node_count() const override { return graph_.nodes; }
  std::uint32_t vertex_count() const override { return graph_.vertices; }
  std::uint32_t link_count() const override { return static_cast<std::uint32_t>(wiring_.links().size()); }

  std::uint32_t hops(Node from, Node to) const override { return row(to).hops[index(from)]; }
  Cost cost(Node from, Node to) const override {
    const Row& routes = row(to);
    return routes.cost.empty() ? times(fastest_, routes.hops[index(from)]) : routes.cost[index(from)];
  }
  void route(Node from, Node to, std::vector<Link>& links) const override {
    const Row& routes = row(to);
    for (std::uint32_t v = index(from); v != index(to); v = wiring_.links()[routes.next[v]].to)
      links.push_back(Link{routes.next[v]});
  }
  std::pair<Vertex, Vertex> endpoints(Link link) const override {
    const GraphLink& found = wiring_.links()[index(link)];
    return {Vertex{found.from}, Vertex{found.to}};
  }
  double slowness(Link link) const override {
    return wiring_.links()[index(link)].cost.inverse_bandwidth / fastest_.inverse_bandwidth;
  }
  Cost per_hop() const override { return fastest_; }

  /// O(nodes x links) at the first call; the rows are not stored.
  std::uint32_t diameter() const override {
    if (const std::uint32_t known = diameter_.load(); known != none) return known;
    std::vector<std::uint32_t> farthest(graph_.nodes);
    parallel_chunks(graph_.nodes, 8, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> order;
      for (std::size_t node = begin; node < end; ++node) {
        const auto destination = static_cast<std::uint32_t>(node);
        const auto hops = graph_.next.empty() ? wiring_.distances(destination, GraphWiring::Direction::to_start, order)
                                              : make_row(destination).hops;
        farthest[node] = *std::max_element(hops.begin(), hops.begin() + graph_.nodes);
      }
    });
    diameter_ = *std::max_element(farthest.begin(), farthest.end());
    return diameter_.load();
  }

  bool symmetric() const override { return !one_way_ && graph_.next.empty(); }
  std::string text() const override { return "graph"; }
  const NetworkShape& shape() const override { return shape_; }

 private:
  /// A sufficient condition that is cheap to check: all nodes reach one vertex and are reached from it.
  bool is_strongly_connected_through_hub() const {
    std::uint32_t hub = 0;
    if (!wiring_.forwards(0)) {
      const auto out = wiring_.out(0);
      const auto router = std::find_if(out.begin(), out.end(),
                                       [&](std::uint32_t link) { return wiring_.forwards(wiring_.links()[link].to); });
      if (router == out.end()) return false;
      hub = wiring_.links()[*router].to;
    }
    std::vector<std::uint32_t> order;
    for (const auto direction : {GraphWiring::Direction::from_start, GraphWiring::Direction::to_start}) {
      const auto hops = wiring_.distances(hub, direction, order);
      if (std::find(hops.begin(), hops.begin() + graph_.nodes, none) != hops.begin() + graph_.nodes) return false;
    }
    return true;
  }

  Row make_row(std::uint32_t destination) const {
    if (graph_.next.empty()) return shortest_row(wiring_, graph_.nodes, uneven_, destination);
    return *table_row(wiring_, graph_.nodes, uneven_, destination,
                      graph_.next[destination]);  // check() validated the table
  }

  /// Computed at the first request. Two threads may compute the same row; one of the equal results is stored.
  const Row& row(Node destination) const {
    std::atomic<const Row*>& stored = rows_[index(destination)];
    if (const Row* found = stored.load(std::memory_order_acquire)) return *found;
    auto made = std::make_unique<const Row>(make_row(index(destination)));
    const Row* expected = nullptr;
    if (stored.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *expected;
  }

  NetworkShape shape_;
  const GraphShape& graph_;  // inside shape_
  GraphWiring wiring_;
  std::unique_ptr<std::atomic<const Row*>[]> rows_;  // by destination
  mutable std::atomic<std::uint32_t> diameter_ = none;
  Cost fastest_{1, 0};  // the cost of all links if they are equal
  bool uneven_ = false;
  bool one_way_ = false;
};

Result<void> check_shape(const GraphShape& shape) {
  const std::string kind = "graph";
  if (shape.nodes == 0) return bad_network(kind, "this graph has no nodes", "give it at least one node");
  if (shape.vertices < shape.nodes) {
    return bad_network(kind, fmt::format("{} vertices are fewer than {} nodes", shape.vertices, shape.nodes),
                       "vertices include the nodes");
  }
  if (auto valid = check_count(kind, 2 * shape.cables.size(), "links"); !valid) return valid;
  if (shape.vertices > std::max<std::size_t>(1, 2 * shape.cables.size())) {  // before anything is allocated per vertex
    return bad_network(kind, fmt::format("{} cables cannot connect {} vertices", shape.cables.size(), shape.vertices),
                       "remove vertices without a cable");
  }
  for (std::size_t at = 0; at < shape.cables.size(); ++at) {
    const auto& [a, b, cost, one_way] = shape.cables[at];
    if (index(a) >= shape.vertices || index(b) >= shape.vertices || a == b) {
      return bad_network(kind, fmt::format("cable {} cannot lead from vertex {} to {}", at, index(a), index(b)),
                         fmt::format("connect two different vertices from 0 to {}", shape.vertices - 1));
    }
    if (auto valid = check_cost(kind, cost); !valid) return valid;
  }
  if (shape.next.empty()) return {};
  if (shape.next.size() != shape.nodes) {
    return bad_network(kind, fmt::format("{} tables for {} nodes", shape.next.size(), shape.nodes),
                       "give one table for each destination");
  }
  for (std::size_t at = 0; at < shape.next.size(); ++at) {
    if (shape.next[at].size() == shape.vertices) continue;
    return bad_network(kind,
                       fmt::format("the table of destination {} has {} entries for {} vertices", at,
                                   shape.next[at].size(), shape.vertices),
                       "give one entry for each vertex");
  }
  return {};
}

}  // namespace

Result<NetworkPtr> make_graph(GraphShape shape) {
  if (auto valid = check_shape(shape); !valid) return propagate(valid);
  auto graph = std::make_shared<const Graph>(std::move(shape));
  if (auto valid = graph->check(); !valid) return propagate(valid);
  return graph;
}

}  // namespace rankloom
