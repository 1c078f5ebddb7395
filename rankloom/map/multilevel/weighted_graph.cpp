// SPDX-License-Identifier: Apache-2.0
// map/multilevel: building, contracting and dividing the graph.
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <algorithm>
#include <limits>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom::multilevel {

WeightedGraph::WeightedGraph(Array<std::uint64_t> offsets, Array<Edge> edges, Array<std::uint32_t> sizes)
    : offsets_(std::move(offsets)), edges_(std::move(edges)), sizes_(std::move(sizes)) {
  for (const std::uint32_t size : sizes_) {
    total_size_ += size;
    largest_ = std::max(largest_, size);
  }
}

namespace {

/// The traffic where time counts: a message is as many bytes as take as long from one end of the machine to the other.
CommGraph messages_as_bytes(const CommGraph& graph, Cost far) {
  CommGraph::Rows rows = graph.rows();
  const double bytes = far.gap > 0 ? 1 : 0;
  const double message = far.gap > 0 ? far.latency / far.gap : 1;
  parallel_chunks(rows.bytes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t edge = begin; edge < end; ++edge) {
      const double messages = graph.has_messages() ? rows.messages[edge] : graph.default_messages();
      rows.bytes[edge] = bytes * rows.bytes[edge] + message * messages;
    }
  });
  return CommGraph(std::move(rows));
}

Affinity affinity_of(const MapProblem& problem) {
  const std::uint32_t cores = problem.topology.core_count();
  const Cost far = cores < 2 ? Cost{} : problem.topology.cost(Core{0}, Core{cores - 1});
  if (problem.model != CostModel::time || far.latency == 0) return Affinity(problem.graph);
  return Affinity(messages_as_bytes(problem.graph, far));
}

}  // namespace

WeightedGraph weighted_graph(const MapProblem& problem, std::span<const std::uint32_t> of_ranks) {
  const Affinity affinity = affinity_of(problem);
  Array<std::uint64_t> offsets(affinity.offsets().begin(), affinity.offsets().end());
  Array<Edge> edges(affinity.edge_count());
  Array<std::uint32_t> sizes(affinity.size());
  parallel_chunks(affinity.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t vertex = begin; vertex < end; ++vertex) {
      sizes[vertex] = of_ranks.empty() ? 1 : of_ranks[vertex];
      for (std::uint64_t at = offsets[vertex]; at < offsets[vertex + 1]; ++at) {
        edges[at] = {affinity.all_neighbours()[at], static_cast<float>(affinity.all_weights()[at])};
      }
    }
  });
  return {std::move(offsets), std::move(edges), std::move(sizes)};
}

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// The members of each coarse vertex, one after another.
struct Members {
  Array<std::uint64_t> ends;
  Array<std::uint32_t> fine;

  Members(std::span<const std::uint32_t> coarse_of, std::uint32_t coarse_count)
      : ends(coarse_count + std::size_t{1}, 0), fine(coarse_of.size()) {
    for (const std::uint32_t coarse : coarse_of) ++ends[coarse + std::size_t{1}];
    for (std::size_t at = 1; at < ends.size(); ++at) ends[at] += ends[at - 1];
    Array<std::uint64_t> next(ends.begin(), ends.end() - 1);
    for (std::uint32_t vertex = 0; vertex < coarse_of.size(); ++vertex) fine[next[coarse_of[vertex]]++] = vertex;
  }
  std::span<const std::uint32_t> operator[](std::size_t coarse) const {
    return {fine.data() + ends[coarse], static_cast<std::size_t>(ends[coarse + 1] - ends[coarse])};
  }
};

}  // namespace

WeightedGraph contracted(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                         std::uint32_t coarse_count) {
  const Members members(coarse_of, coarse_count);
  Array<std::uint64_t> offsets(coarse_count + std::size_t{1}, 0);
  Array<std::uint32_t> sizes(coarse_count);
  const std::size_t chunks = (coarse_count + default_chunk - 1) / default_chunk;
  std::vector<std::vector<Edge>> rows(chunks);
  oneapi::tbb::enumerable_thread_specific<std::vector<std::uint32_t>> places(
      [&] { return std::vector<std::uint32_t>(coarse_count, nowhere); });
  parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t end) {
    auto& place = places.local();  // of each coarse neighbour, its position in the row that is being made
    auto& made = rows[begin / default_chunk];
    std::uint64_t bound = 0;
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      for (const std::uint32_t vertex : members[coarse]) bound += graph.edges(vertex).size();
    }
    made.reserve(bound);
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      const std::size_t first = made.size();
      std::uint32_t size = 0;
      for (const std::uint32_t vertex : members[coarse]) {
        size += graph.size(vertex);
        for (const Edge edge : graph.edges(vertex)) {
          const std::uint32_t to = coarse_of[edge.to];
          if (to == coarse) continue;
          if (place[to] == nowhere) {
            place[to] = static_cast<std::uint32_t>(made.size() - first);
            made.push_back({to, edge.weight});
          } else {
            made[first + place[to]].weight += edge.weight;
          }
        }
      }
      for (std::size_t at = first; at < made.size(); ++at) place[made[at].to] = nowhere;
      sizes[coarse] = size;
      offsets[coarse + 1] = made.size() - first;
    }
  });
  for (std::size_t at = 1; at < offsets.size(); ++at) offsets[at] += offsets[at - 1];
  Array<Edge> edges(offsets.back());
  parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t) {
    auto& made = rows[begin / default_chunk];
    std::copy(made.begin(), made.end(), edges.begin() + static_cast<std::ptrdiff_t>(offsets[begin]));
    made = {};
  });
  return {std::move(offsets), std::move(edges), std::move(sizes)};
}

std::vector<Subgraph> split(const WeightedGraph& graph, std::span<const std::uint32_t> part_of, std::uint32_t parts) {
  std::vector<std::uint32_t> number(graph.vertex_count());
  std::vector<Subgraph> shares(parts);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    auto& original = shares[part_of[vertex]].original;
    number[vertex] = static_cast<std::uint32_t>(original.size());
    original.push_back(vertex);
  }
  parallel_chunks(parts, 1, [&](std::size_t part, std::size_t) {
    const auto& original = shares[part].original;
    Array<std::uint64_t> offsets(original.size() + 1);
    Array<std::uint32_t> sizes(original.size());
    Array<Edge> edges;
    std::uint64_t bound = 0;
    for (const std::uint32_t vertex : original) bound += graph.edges(vertex).size();
    edges.reserve(bound);
    offsets[0] = 0;
    for (std::size_t at = 0; at < original.size(); ++at) {
      for (const Edge edge : graph.edges(original[at])) {
        if (part_of[edge.to] == part) edges.push_back({number[edge.to], edge.weight});
      }
      offsets[at + 1] = edges.size();
      sizes[at] = graph.size(original[at]);
    }
    shares[part].graph = {std::move(offsets), std::move(edges), std::move(sizes)};
  });
  return shares;
}

std::pair<Subgraph, Subgraph> halves(const WeightedGraph& graph, std::span<const std::uint8_t> part_of) {
  const std::vector<std::uint32_t> parts(part_of.begin(), part_of.end());
  auto both = split(graph, parts, 2);
  return {std::move(both[0]), std::move(both[1])};
}

}  // namespace rankloom::multilevel
