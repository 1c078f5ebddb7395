// SPDX-License-Identifier: Apache-2.0
// map/multilevel: contraction and subgraphs of weighted graphs.
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom::multilevel {

WeightedGraph::WeightedGraph(Array<std::uint64_t> offsets, Array<Edge> edges, Array<std::uint32_t> vertex_weights)
    : offsets_(std::move(offsets)), edges_(std::move(edges)), vertex_weights_(std::move(vertex_weights)) {
  for (const std::uint32_t weight : vertex_weights_) {
    total_vertex_weight_ += weight;
    max_vertex_weight_ = std::max(max_vertex_weight_, weight);
  }
}

namespace {

/// The fine vertices of each coarse vertex in ascending order, one coarse vertex after another.
struct CoarseMembers {
  Array<std::uint64_t> ends;
  Array<std::uint32_t> fine;

  CoarseMembers(std::span<const std::uint32_t> coarse_of, std::uint32_t coarse_count)
      : ends(coarse_count + std::size_t{1}, 0), fine(coarse_of.size()) {
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) take_next(ends[coarse_of[vertex] + std::size_t{1}]);
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Array<std::uint64_t> next(ends.begin(), ends.end() - 1);
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex)
        fine[take_next(next[coarse_of[vertex]])] = static_cast<std::uint32_t>(vertex);
    });
    parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t coarse = begin; coarse < end; ++coarse)
        std::sort(fine.data() + ends[coarse], fine.data() + ends[coarse + 1]);
    });
  }
  std::span<const std::uint32_t> operator[](std::size_t coarse) const {
    return {fine.data() + ends[coarse], static_cast<std::size_t>(ends[coarse + 1] - ends[coarse])};
  }

 private:
  static std::uint64_t take_next(std::uint64_t& number) {
    return std::atomic_ref(number).fetch_add(1, std::memory_order_relaxed);
  }
};

/// Compressed sparse rows.
struct Rows {
  Array<std::uint64_t> offsets;
  Array<Edge> edges;
};

/// Calls append(begin, end, edges, degrees) for chunks of the rows, in parallel: it appends the edges of these rows and
/// sets the degree of each.
template <class Append>
Rows rows_by_chunks(std::size_t count, const Append& append) {
  Rows rows{Array<std::uint64_t>(count + 1), {}};
  rows.offsets[0] = 0;
  std::vector<std::vector<Edge>> edges_of_chunk((count + default_chunk - 1) / default_chunk);
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    append(begin, end, edges_of_chunk[begin / default_chunk],
           std::span<std::uint64_t>(rows.offsets).subspan(begin + 1, end - begin));
  });
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  rows.edges.resize(rows.offsets.back());
  parallel_chunks(count, [&](std::size_t begin, std::size_t) {
    auto& edges = edges_of_chunk[begin / default_chunk];
    std::copy(edges.begin(), edges.end(), rows.edges.begin() + static_cast<std::ptrdiff_t>(rows.offsets[begin]));
    edges = {};
  });
  return rows;
}

}  // namespace

namespace {

/// Adds up the edges of one coarse vertex after another. Without branches: no processor predicts which neighbours two
/// vertices have in common.
class CoarseRow {
 public:
  explicit CoarseRow(std::uint32_t coarse_count) : position_(coarse_count, not_in_row), row_(1) {}

  void begin(std::uint32_t coarse, std::size_t max_edges) {
    if (row_.size() <= max_edges) row_.resize(2 * max_edges + 1);
    coarse_ = coarse;
    position_[coarse] = loops;
    end_ = loops + 1;
  }

  void add(std::uint32_t to, float weight) {
    const std::uint32_t position = position_[to];
    const bool is_new = position == not_in_row;
    const std::uint32_t at = is_new ? end_ : position;
    position_[to] = at;
    row_[at] = {to, (is_new ? 0 : row_[at].weight) + weight};
    end_ += is_new ? 1 : 0;
  }

  /// The edges in the order in which their ends were added.
  std::span<const Edge> finish() {
    const auto edges = std::span<const Edge>(row_).subspan(loops + 1, end_ - loops - 1);
    for (const Edge edge : edges) position_[edge.to] = not_in_row;
    position_[coarse_] = not_in_row;
    return edges;
  }

 private:
  static constexpr std::uint32_t not_in_row = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t loops = 0;  // where edges within the coarse vertex are added up
  Array<std::uint32_t> position_;            // of each coarse neighbour in the row
  std::vector<Edge> row_;
  std::uint32_t coarse_ = 0, end_ = 0;
};

}  // namespace

WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count) {
  const TimedSection timing("contraction");
  const CoarseMembers members(coarse_of, coarse_count);
  Array<std::uint32_t> vertex_weights(coarse_count);
  oneapi::tbb::enumerable_thread_specific<CoarseRow> coarse_rows([&] { return CoarseRow(coarse_count); });
  Rows rows = rows_by_chunks(coarse_count, [&](std::size_t begin, std::size_t end, std::vector<Edge>& coarse_edges,
                                               std::span<std::uint64_t> degrees) {
    CoarseRow& row = coarse_rows.local();
    std::uint64_t max_edges = 0;
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      for (const std::uint32_t vertex : members[coarse]) max_edges += graph.edges(vertex).size();
    }
    coarse_edges.reserve(max_edges);
    for (auto coarse = static_cast<std::uint32_t>(begin); coarse < end; ++coarse) {
      std::size_t max_row_edges = 0;
      std::uint32_t vertex_weight = 0;
      for (const std::uint32_t vertex : members[coarse]) {
        max_row_edges += graph.edges(vertex).size();
        vertex_weight += graph.vertex_weight(vertex);
      }
      row.begin(coarse, max_row_edges);
      for (const std::uint32_t vertex : members[coarse]) {
        for (const Edge edge : graph.edges(vertex)) row.add(coarse_of[edge.to], edge.weight);
      }
      const auto edges = row.finish();
      coarse_edges.insert(coarse_edges.end(), edges.begin(), edges.end());
      vertex_weights[coarse] = vertex_weight;
      degrees[coarse - begin] = edges.size();
    }
  });
  WeightedGraph coarse_graph(std::move(rows.offsets), std::move(rows.edges), std::move(vertex_weights));
  if (graph.has_pulls()) {
    Array<float> pulls(coarse_count, 0);
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
      pulls[coarse_of[vertex]] += graph.pull(vertex);
    coarse_graph.set_pulls(std::move(pulls));
  }
  return coarse_graph;
}

namespace {

/// The vertices of each block in ascending order, and the number of each vertex in its block.
struct BlockMembers {
  std::vector<std::vector<std::uint32_t>> of_block;
  Array<std::uint32_t> number;

  BlockMembers(std::span<const std::uint32_t> block_of, std::uint32_t block_count)
      : of_block(block_count), number(block_of.size()) {
    // So few chunks that their tables of all blocks take no more memory than the vertices.
    const std::size_t chunk = std::max<std::size_t>(default_chunk, block_count);
    std::vector<std::vector<std::uint32_t>> next((block_of.size() + chunk - 1) / chunk,
                                                 std::vector<std::uint32_t>(block_count, 0));
    parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) ++next[begin / chunk][block_of[vertex]];
    });
    for (std::uint32_t block = 0; block < block_count; ++block) {
      std::uint32_t size = 0;
      for (auto& first : next) size += std::exchange(first[block], size);
      of_block[block].resize(size);
    }
    parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) {
        number[vertex] = next[begin / chunk][block_of[vertex]]++;
        of_block[block_of[vertex]][number[vertex]] = static_cast<std::uint32_t>(vertex);
      }
    });
  }
};

}  // namespace

std::vector<Subgraph> block_subgraphs(const WeightedGraph& graph, std::span<const std::uint32_t> block_of,
                                      std::uint32_t block_count) {
  const TimedSection timing("subgraphs");
  BlockMembers members(block_of, block_count);
  std::vector<Subgraph> subgraphs(block_count);
  parallel_chunks(block_count, 1, [&](std::size_t block, std::size_t) {
    auto& original = subgraphs[block].original;
    original = std::move(members.of_block[block]);
    Array<std::uint32_t> vertex_weights(original.size());
    Rows rows = rows_by_chunks(original.size(), [&](std::size_t begin, std::size_t end, std::vector<Edge>& edges,
                                                    std::span<std::uint64_t> degrees) {
      std::uint64_t max_edges = 0;
      for (std::size_t at = begin; at < end; ++at) max_edges += graph.edges(original[at]).size();
      edges.reserve(max_edges);
      for (std::size_t at = begin; at < end; ++at) {
        const std::size_t row = edges.size();
        for (const Edge edge : graph.edges(original[at])) {
          if (block_of[edge.to] == block) edges.push_back({members.number[edge.to], edge.weight});
        }
        degrees[at - begin] = edges.size() - row;
        vertex_weights[at] = graph.vertex_weight(original[at]);
      }
    });
    subgraphs[block].graph = {std::move(rows.offsets), std::move(rows.edges), std::move(vertex_weights)};
  });
  return subgraphs;
}

std::pair<Subgraph, Subgraph> side_subgraphs(const WeightedGraph& graph, std::span<const std::uint8_t> side_of) {
  const std::vector<std::uint32_t> block_of(side_of.begin(), side_of.end());
  auto sides = block_subgraphs(graph, block_of, 2);
  return {std::move(sides[0]), std::move(sides[1])};
}

}  // namespace rankloom::multilevel
