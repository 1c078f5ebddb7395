// SPDX-License-Identifier: Apache-2.0
// map/multilevel: weighted graphs and their subgraphs.
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom::multilevel {

WeightedGraph::WeightedGraph(RowOffsets offsets, Array<Edge> edges, Array<std::uint32_t> vertex_weights)
    : offsets_(std::move(offsets)), edges_(std::move(edges)), vertex_weights_(std::move(vertex_weights)) {
  add_up_vertex_weights();
}

WeightedGraph::WeightedGraph(RowOffsets offsets, Array<std::uint32_t> ends, float edge_weight,
                             Array<std::uint32_t> vertex_weights)
    : offsets_(std::move(offsets)),
      ends_(std::move(ends)),
      edge_weight_(edge_weight),
      vertex_weights_(std::move(vertex_weights)) {
  add_up_vertex_weights();
}

WeightedGraph WeightedGraph::with_unit_vertex_weights() && {
  WeightedGraph graph = std::move(*this);
  graph.vertex_weights_ = {};
  graph.pulls_ = {};
  graph.add_up_vertex_weights();
  return graph;
}

void WeightedGraph::add_up_vertex_weights() {
  total_vertex_weight_ = vertex_weights_.empty() ? vertex_count() : 0;
  max_vertex_weight_ = vertex_weights_.empty() && vertex_count() > 0 ? 1 : 0;
  for (const std::uint32_t weight : vertex_weights_) {
    total_vertex_weight_ += weight;
    max_vertex_weight_ = std::max(max_vertex_weight_, weight);
  }
}

BlockMembers::BlockMembers(std::span<const std::uint32_t> block_of, std::uint32_t block_count)
    : begins_(block_count + std::size_t{1}, 0), members_(block_of.size()), position_(block_of.size()) {
  // So few chunks that their tables of all blocks take no more memory than the vertices.
  const std::size_t chunk = std::max<std::size_t>(default_chunk, block_count);
  std::vector<std::vector<std::uint32_t>> next((block_of.size() + chunk - 1) / chunk,
                                               std::vector<std::uint32_t>(block_count, 0));
  parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t vertex = begin; vertex < end; ++vertex) ++next[begin / chunk][block_of[vertex]];
  });
  std::uint32_t position = 0;
  for (std::uint32_t block = 0; block < block_count; ++block) {
    begins_[block] = position;
    for (auto& first : next) position += std::exchange(first[block], position);
  }
  begins_[block_count] = position;
  parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t vertex = begin; vertex < end; ++vertex) {
      position_[vertex] = next[begin / chunk][block_of[vertex]]++;
      members_[position_[vertex]] = static_cast<std::uint32_t>(vertex);
    }
  });
}

template <class Entry, class EntryOf>
GraphRows<Entry> BlockMembers::rows_inside(const WeightedGraph& graph, std::size_t block,
                                           const EntryOf& entry_of) const {
  const auto members = (*this)[block];
  const std::uint32_t first = begins_[block];
  const auto degrees = [&](std::size_t begin, std::size_t end) {
    std::uint64_t edges = 0;
    for (std::size_t at = begin; at < end; ++at) edges += graph.edges(members[at]).size();
    return edges;
  };
  return rows_by_chunks<Entry>(members.size(), parallel_sum<std::uint64_t>(members.size(), degrees),
                               [&](std::size_t begin, std::size_t end, Array<Entry>& entries, const auto& set_degree) {
                                 entries.reserve(degrees(begin, end));
                                 for (std::size_t at = begin; at < end; ++at) {
                                   const std::size_t row = entries.size();
                                   for (const Edge edge : graph.edges(members[at])) {
                                     const std::uint32_t number =
                                         position_[edge.to] - first;  // in another block: too large
                                     if (number < members.size()) entries.push_back(entry_of({number, edge.weight}));
                                   }
                                   set_degree(at, entries.size() - row);
                                 }
                               });
}

WeightedGraph BlockMembers::subgraph(const WeightedGraph& graph, std::size_t block) const {
  const TimedSection timing("subgraphs");
  const auto members = (*this)[block];
  Array<std::uint32_t> vertex_weights(graph.has_vertex_weights() ? members.size() : 0);
  for (std::size_t at = 0; at < vertex_weights.size(); ++at) vertex_weights[at] = graph.vertex_weight(members[at]);
  if (graph.has_uniform_edges()) {
    auto rows = rows_inside<std::uint32_t>(graph, block, [](Edge edge) { return edge.to; });
    float weight = 0;
    for (std::size_t at = 0; at < members.size() && weight == 0; ++at) {
      if (!graph.edges(members[at]).empty()) weight = graph.edges(members[at]).front().weight;
    }
    return {std::move(rows.offsets), std::move(rows.entries), weight, std::move(vertex_weights)};
  }
  auto rows = rows_inside<Edge>(graph, block, [](Edge edge) { return edge; });
  return {std::move(rows.offsets), std::move(rows.entries), std::move(vertex_weights)};
}

std::pair<Subgraph, Subgraph> side_subgraphs(const WeightedGraph& graph, std::span<const std::uint8_t> side_of) {
  const BlockMembers sides(std::vector<std::uint32_t>(side_of.begin(), side_of.end()), 2);
  const auto subgraph_of = [&](std::size_t side) {
    return Subgraph{sides.subgraph(graph, side), {sides[side].begin(), sides[side].end()}};
  };
  return {subgraph_of(0), subgraph_of(1)};
}

}  // namespace rankloom::multilevel
