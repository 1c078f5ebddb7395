// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: regions and undirected traffic of a sparse QAP.
#include "rankloom/map/metaheuristics/sparse_qap.hpp"

#include <algorithm>
#include <cassert>

#include "rankloom/map/local_search/neighbourhood.hpp"
#include "rankloom/map/reverse_adjacency.hpp"

namespace rankloom {

bool SparseQap::fits(const MapProblem& problem) {
  // A distance table can have a cost on its diagonal, for ranks that send to themselves; QapInstance handles it.
  if (pairwise_model(problem.model) != problem.model || problem.topology.is_matrix()) return false;
  return QapLocations::count(problem, max_locations) <= max_locations && problem.topology.symmetric();
}

SparseQap::SparseQap(const MapProblem& problem) : locations_(problem) {
  assert(fits(problem));
  find_regions(problem.topology);
  if (problem.topology.routed()) find_nearby(problem.topology);
  collect_edges(problem.graph);
}

void SparseQap::find_regions(const Topology& topology) {
  const std::uint32_t count = location_count();
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    if (topology.levels()[level].is_private()) continue;
    std::vector<Region> regions(count);
    bool all_single = true;
    for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
      const std::uint32_t object = topology.object_of(level, locations_.core_of(begin));
      while (end < count && topology.object_of(level, locations_.core_of(end)) == object) ++end;
      std::fill(regions.begin() + begin, regions.begin() + end, Region{begin, end});
      all_single = all_single && end - begin == 1;
    }
    if (!all_single) regions_.push_back(std::move(regions));
  }
}

void SparseQap::find_nearby(const Topology& topology) {
  std::vector<Region> of_node(topology.node_count(), Region{0, 0});
  node_of_.resize(location_count());
  for (std::uint32_t location = 0; location < location_count(); ++location) {
    node_of_[location] = index(topology.node_of(locations_.core_of(location)));
    Region& region = of_node[node_of_[location]];
    if (region.begin == region.end) region.begin = location;
    region.end = location + 1;
  }
  const Neighbourhood neighbourhood(topology);
  nearby_offsets_.push_back(0);
  for (const Node node : topology.nodes()) {
    for (const Node adjacent : neighbourhood.adjacent_nodes(node)) {
      const Region region = of_node[index(adjacent)];
      if (region.begin != region.end) nearby_.push_back(region);
    }
    nearby_offsets_.push_back(nearby_.size());
  }
}

void SparseQap::collect_edges(const CommGraph& graph) {
  const ReverseAdjacency reverse_adjacency(graph);
  offsets_.assign(location_count() + std::size_t{1}, 0);
  std::vector<Edge> partners;
  for (const Rank rank : graph.ranks()) {
    partners.clear();
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const double messages = graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages();
      partners.push_back({index(graph.targets(rank)[edge]), graph.bytes(rank)[edge], messages});
    }
    for (const ReverseAdjacency::Entry& incoming : reverse_adjacency[rank]) {
      partners.push_back({index(incoming.from), incoming.bytes, incoming.messages});
    }
    std::stable_sort(partners.begin(), partners.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
    const std::size_t first = edges_.size();
    for (const Edge& edge : partners) {
      if (edge.to == index(rank)) continue;
      if (edges_.size() > first && edges_.back().to == edge.to) {
        edges_.back().bytes += edge.bytes;
        edges_.back().messages += edge.messages;
      } else {
        edges_.push_back(edge);
      }
    }
    offsets_[index(rank) + 1] = edges_.size();
  }
  std::fill(offsets_.begin() + ranks() + 1, offsets_.end(), edges_.size());
}

}  // namespace rankloom
