// SPDX-License-Identifier: Apache-2.0
// model: any graph as a network, routed by shortest paths or by tables.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/machine/network/graph_wiring.hpp"
#include "rankloom/model/machine/network/networks.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t none = GraphWiring::unreached;

/// Everything about the routes to one destination.
struct Row {
  std::vector<std::uint32_t> next;  // by vertex: the link to take; none: no route passes here
  std::vector<std::uint32_t> hops;  // by node
  std::vector<Cost> cost;           // by node; empty where all links cost the same
};

/// Sums hops and costs up along `next`; every vertex in `order` comes after the one its link leads to.
void add_up(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::span<const std::uint32_t> order,
            Row& row) {
  std::vector<std::uint32_t> hops(row.next.size());
  std::vector<Cost> cost(with_cost ? row.next.size() : 0);
  for (const std::uint32_t v : order) {
    if (row.next[v] == none) continue;  // the destination
    const GraphLink& link = wiring.links()[row.next[v]];
    hops[v] = hops[link.to] + 1;
    if (with_cost) cost[v] = {cost[link.to].gap + link.cost.gap, cost[link.to].latency + link.cost.latency};
  }
  hops.resize(nodes);
  row.hops = std::move(hops);
  if (with_cost) cost.resize(nodes);
  row.cost = std::move(cost);
}

/// Fewest hops, then lowest gap, then lowest latency, then lowest vertex.
Row shortest_row(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::uint32_t destination) {
  std::vector<std::uint32_t> order;
  const auto distance = wiring.distances(destination, GraphWiring::Direction::to_start, order);
  using Units = std::pair<std::uint64_t, std::uint64_t>;  // gap, latency
  std::vector<Units> units(distance.size());
  Row row{.next = std::vector<std::uint32_t>(distance.size(), none), .hops = {}, .cost = {}};
  for (const std::uint32_t v : std::span(order).subspan(1)) {
    for (const std::uint32_t number : wiring.out(v)) {
      const GraphLink& link = wiring.links()[number];
      if (distance[link.to] != distance[v] - 1 || !(link.to == destination || wiring.passes_on(link.to))) continue;
      const Units sum{units[link.to].first + link.gap_units, units[link.to].second + link.latency_units};
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
                     "let each entry name a neighbour that is nearer to the destination");
}

/// The cheapest link between two vertices.
std::optional<std::uint32_t> find_link(const GraphWiring& wiring, std::uint32_t from, std::uint32_t to) {
  const auto row = wiring.out(from);
  const auto link = std::partition_point(row.begin(), row.end(),
                                         [&](std::uint32_t number) { return wiring.links()[number].to < to; });
  if (link == row.end() || wiring.links()[*link].to != to) return std::nullopt;
  return *link;
}

/// Follows the table from every node; fails where that does not lead to the destination.
Result<Row> table_row(const GraphWiring& wiring, std::uint32_t nodes, bool with_cost, std::uint32_t destination,
                      const std::vector<Vertex>& table) {
  Row row{.next = std::vector<std::uint32_t>(wiring.vertex_count(), none), .hops = {}, .cost = {}};
  std::vector<bool> arrives(wiring.vertex_count());
  arrives[destination] = true;
  std::vector<std::uint32_t> order, way;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    way.clear();
    for (std::uint32_t v = node, to = 0; !arrives[v]; v = to) {
      to = index(table[v]);
      if (row.next[v] != none) return bad_table(destination, v, "goes in a circle");
      const auto link = find_link(wiring, v, to);
      if (!link) return bad_table(destination, v, fmt::format("goes to {}, which is no neighbour,", to));
      if (to != destination && !wiring.passes_on(to))
        return bad_table(destination, v, "goes through a node that does not forward");
      row.next[v] = *link;
      way.push_back(v);
    }
    for (; !way.empty(); way.pop_back()) {
      arrives[way.back()] = true;
      order.push_back(way.back());
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
      if (link.cost.gap < fastest_.gap) fastest_ = link.cost;
    }
    for (const GraphShape::Cable& cable : graph_.cables) one_way_ |= cable.one_way;
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() override {
    for (std::uint32_t node = 0; node < graph_.nodes; ++node) delete rows_[node].load();
  }

  /// Every route must exist; the tables are followed once, the rest is searched.
  Result<void> check() const {
    if (!graph_.next.empty()) {
      for (std::uint32_t destination = 0; destination < graph_.nodes; ++destination) {
        auto row = table_row(wiring_, graph_.nodes, false, destination, graph_.next[destination]);
        if (!row) return propagate(row);
      }
      return {};
    }
    if (all_meet_at_one_vertex()) return {};
    std::vector<std::uint32_t> order;
    for (std::uint32_t destination = 0; destination < graph_.nodes; ++destination) {
      const auto hops = wiring_.distances(destination, GraphWiring::Direction::to_start, order);
      const auto lost = std::find(hops.begin(), hops.begin() + graph_.nodes, none);
      if (lost == hops.begin() + graph_.nodes) continue;
      return bad_network("graph", fmt::format("node {} cannot reach node {}", lost - hops.begin(), destination),
                         "add the missing cables, or let nodes forward");
    }
    return {};
  }

  std::uint32_t node_count() const override { return graph_.nodes; }
  std::uint32_t vertex_count() const override { return graph_.vertices; }
  std::uint32_t link_count() const override { return static_cast<std::uint32_t>(wiring_.links().size()); }

  std::uint32_t hops(Node from, Node to) const override { return row(to).hops[index(from)]; }
  Cost cost(Node from, Node to) const override {
    const Row& here = row(to);
    return here.cost.empty() ? times(fastest_, here.hops[index(from)]) : here.cost[index(from)];
  }
  void route(Node from, Node to, std::vector<Link>& links) const override {
    const Row& here = row(to);
    for (std::uint32_t v = index(from); v != index(to); v = wiring_.links()[here.next[v]].to)
      links.push_back(Link{here.next[v]});
  }
  std::pair<Vertex, Vertex> ends(Link link) const override {
    const GraphLink& found = wiring_.links()[index(link)];
    return {Vertex{found.from}, Vertex{found.to}};
  }
  double slowness(Link link) const override { return wiring_.links()[index(link)].cost.gap / fastest_.gap; }
  Cost per_hop() const override { return fastest_; }

  /// The rows are not kept: O(nodes x links) once, nothing stored.
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
  /// A quick proof that all is well, which fails only on odd graphs: one vertex that all nodes reach and that reaches
  /// all.
  bool all_meet_at_one_vertex() const {
    std::uint32_t hub = 0;
    if (!wiring_.passes_on(0)) {
      const auto out = wiring_.out(0);
      const auto router = std::find_if(out.begin(), out.end(),
                                       [&](std::uint32_t link) { return wiring_.passes_on(wiring_.links()[link].to); });
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
                      graph_.next[destination]);  // check() has followed it
  }

  /// Made when it is first asked for. Two threads may both make it; one of the two equal rows is kept.
  const Row& row(Node destination) const {
    std::atomic<const Row*>& kept = rows_[index(destination)];
    if (const Row* found = kept.load(std::memory_order_acquire)) return *found;
    auto made = std::make_unique<const Row>(make_row(index(destination)));
    const Row* expected = nullptr;
    if (kept.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *expected;
  }

  NetworkShape shape_;
  const GraphShape& graph_;  // inside shape_
  GraphWiring wiring_;
  std::unique_ptr<std::atomic<const Row*>[]> rows_;  // by destination
  mutable std::atomic<std::uint32_t> diameter_ = none;
  Cost fastest_{1, 0};  // of all links, where they are equal
  bool uneven_ = false;
  bool one_way_ = false;
};

Result<void> check_shape(const GraphShape& shape) {
  const std::string kind = "graph";
  if (shape.nodes == 0) return bad_network(kind, "this graph has no nodes", "give it at least one");
  if (shape.vertices < shape.nodes) {
    return bad_network(kind, fmt::format("{} vertices cannot hold {} nodes", shape.vertices, shape.nodes),
                       "count the nodes among the vertices");
  }
  if (auto sound = check_count(kind, 2 * shape.cables.size(), "links"); !sound) return sound;
  if (shape.vertices > std::max<std::size_t>(1, 2 * shape.cables.size())) {  // before anything is made for each vertex
    return bad_network(kind, fmt::format("{} cables do not join {} vertices", shape.cables.size(), shape.vertices),
                       "leave out vertices without a cable");
  }
  for (std::size_t at = 0; at < shape.cables.size(); ++at) {
    const auto& [a, b, cost, one_way] = shape.cables[at];
    if (index(a) >= shape.vertices || index(b) >= shape.vertices || a == b) {
      return bad_network(kind, fmt::format("cable {} cannot lead from vertex {} to {}", at, index(a), index(b)),
                         fmt::format("join two different vertices of 0 to {}", shape.vertices - 1));
    }
    if (auto sound = check_cost(kind, cost); !sound) return sound;
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
  if (auto sound = check_shape(shape); !sound) return propagate(sound);
  auto graph = std::make_shared<const Graph>(std::move(shape));
  if (auto sound = graph->check(); !sound) return propagate(sound);
  return graph;
}

}  // namespace rankloom
