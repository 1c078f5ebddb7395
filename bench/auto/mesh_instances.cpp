// SPDX-License-Identifier: Apache-2.0
// bench/auto: the instances with many tasks per core (suite B).
#include "bench/auto/mesh_instances.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bench/auto/delaunay.hpp"
#include "bench/auto/reference_instances.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::bench {
namespace {

using Draws = std::mt19937_64;
using Edge = std::pair<std::uint32_t, std::uint32_t>;

CommGraph unit_graph(std::uint32_t size, const std::vector<Edge>& edges) {
  CommGraphBuilder builder(size);
  for (const auto& [a, b] : edges) builder.add(Rank{a}, Rank{b}, 1);
  return std::move(builder).build(false, true);
}

/// Four random pairs per vertex (Erdős, Rényi): no small cuts, no order, hardly any triangles.
CommGraph random_graph(std::uint32_t size, Draws& draws) {
  constexpr std::uint32_t pairs_per_vertex = 4;
  std::vector<Edge> edges;
  for (std::uint64_t pair = 0; pair < std::uint64_t{size} * pairs_per_vertex; ++pair) {
    const auto a = static_cast<std::uint32_t>(draws() % size), b = static_cast<std::uint32_t>(draws() % size);
    if (a != b) edges.emplace_back(a, b);
  }
  return unit_graph(size, edges);
}

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t vertex) {
  while (parents[vertex] != vertex) vertex = parents[vertex] = parents[parents[vertex]];
  return vertex;
}

/// A planar graph of junctions and chains, like road networks (average degree about 2.2): a tenth of the vertices are
/// junctions in the plane, connected by the shortest spanning tree of their Delaunay triangulation and by one in five
/// of its other edges; the other vertices subdivide these edges.
CommGraph road_graph(std::uint32_t size, std::uint64_t seed, Draws& draws) {
  const std::uint32_t junctions = size / 10;
  const std::vector<Point> points = numpy_points(junctions, static_cast<std::uint32_t>(seed));
  std::vector<Edge> candidates = delaunay_edges(points);
  const auto squared_length = [&](const Edge& edge) {
    const double x = points[edge.first].x - points[edge.second].x, y = points[edge.first].y - points[edge.second].y;
    return x * x + y * y;
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Edge& a, const Edge& b) { return squared_length(a) < squared_length(b); });
  std::vector<std::uint32_t> parents(junctions);
  std::iota(parents.begin(), parents.end(), 0U);
  std::vector<Edge> roads;
  for (const Edge& edge : candidates) {
    const std::uint32_t a = root_of(parents, edge.first), b = root_of(parents, edge.second);
    parents[a] = b;
    if (a != b || draws() % 5 == 0) roads.push_back(edge);
  }
  std::vector<std::uint32_t> chain_length(roads.size(), 0);
  for (std::uint32_t vertex = junctions; vertex < size; ++vertex) ++chain_length[draws() % roads.size()];
  std::vector<Edge> edges;
  std::uint32_t next = junctions;
  for (std::size_t road = 0; road < roads.size(); ++road) {
    std::uint32_t end = roads[road].first;
    for (std::uint32_t step = 0; step < chain_length[road]; ++step)
      edges.emplace_back(std::exchange(end, next), next), ++next;
    edges.emplace_back(end, roads[road].second);
  }
  return unit_graph(size, edges);
}

std::optional<CommGraph> graph_of(const MeshInstance& instance, std::uint64_t seed) {
  if (instance.power < 6 || instance.power > 30) return std::nullopt;
  Draws draws(seed * 7919 + instance.size());
  if (instance.kind == "random") return random_graph(instance.size(), draws);
  if (instance.kind == "road") return road_graph(instance.size(), seed, draws);
  return reference_graph(instance.kind, instance.size(), seed);
}

CommGraph with_loads(CommGraph graph, std::uint64_t seed) {
  Draws draws(seed);
  CommGraph::Rows rows = std::move(graph).release();
  rows.loads.resize(rows.offsets.size() - 1);
  for (double& load : rows.loads) load = static_cast<double>(1 + draws() % 10);
  return CommGraph(std::move(rows));
}

}  // namespace

std::string MeshInstance::name() const {
  return fmt::format("{} 2^{}{}", kind, power, loads ? " loads" : "");
}

GraphFamily MeshInstance::family() const {
  return kind == "random" || kind == "plaw" ? GraphFamily::sparse : GraphFamily::mesh;
}

std::vector<MeshInstance> mesh_instances(unsigned power, bool with_larger, bool with_largest) {
  std::vector<MeshInstance> instances;
  for (const char* kind : {"rggmesh", "delaunay", "grid3d", "grid2d", "road"}) instances.push_back({kind, power});
  instances.push_back({.kind = "rggmesh", .power = power, .loads = true});
  instances.push_back({"rggmesh", power, "4:8:16"});
  instances.push_back({"delaunay", power, "8:8:64"});
  instances.push_back({.kind = "rggmesh", .power = power, .machine = "torus:8x8x4=1"});
  instances.push_back({.kind = "grid3d", .power = power, .machine = "torus:4x4x4=3 core:4=1"});
  for (const char* kind : {"random", "plaw"}) instances.push_back({kind, power});
  if (with_larger) {
    for (const char* kind : {"rggmesh", "delaunay"}) instances.push_back({kind, power + 2});
  }
  if (with_largest) {
    for (const char* kind : {"grid2d", "rggmesh"}) instances.push_back({kind, power + 4});
  }
  return instances;
}

Problem mesh_problem(const MeshInstance& instance, std::uint64_t seed) {
  auto graph = graph_of(instance, seed);
  if (!graph) {
    fmt::print(stderr, "unknown graph {}\n", instance.name());
    std::exit(2);
  }
  if (instance.loads) *graph = with_loads(std::move(*graph), seed);
  const Capacities::Options options{.oversubscribe = true, .imbalance = mesh_imbalance};
  const bool is_hierarchy = instance.machine.find_first_not_of("0123456789:") == std::string::npos;
  Problem problem = is_hierarchy
                        ? problem_on(instance.name(), std::move(*graph), instance.machine, instance.distance, options)
                        : problem_on(instance.name(), std::move(*graph), instance.machine, options);
  // The load of a core is limited instead of the number of its tasks.
  if (instance.loads) problem.capacities = Capacities::unbounded(problem.machine, problem.graph.rank_count());
  return problem;
}

double relative_imbalance(const Problem& problem, const MeshInstance& instance, const std::vector<Core>& core_of) {
  IdVector<Core, double> weight_on(problem.machine.core_count(), 0);
  double total = 0, heaviest = 0;
  for (const Rank rank : problem.graph.ranks()) {
    const double weight = problem.graph.load(rank);
    weight_on[core_of[index(rank)]] += weight;
    total += weight;
    heaviest = std::max(heaviest, weight);
  }
  const double average = total / problem.machine.core_count();
  const double allowed = instance.loads ? std::max((1 + mesh_imbalance) * average, heaviest)
                                        : std::ceil((1 + mesh_imbalance) * std::ceil(average));
  return *std::max_element(weight_on.begin(), weight_on.end()) / allowed;
}

}  // namespace rankloom::bench
