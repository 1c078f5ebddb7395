// SPDX-License-Identifier: Apache-2.0
// map/multilevel: coarsening, initial partitioning, uncoarsening with refinement.
#include "rankloom/map/multilevel/kway_partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"
#include "rankloom/map/multilevel/refinement/flow_refinement.hpp"
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

namespace rankloom::multilevel {

bool balance_overloaded_blocks(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                               std::span<std::uint32_t> block_of) {
  const std::size_t block_count = max_block_weight.size();
  std::vector<std::uint64_t> block_weight(block_count, 0);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
    block_weight[block_of[vertex]] += graph.vertex_weight(vertex);
  const auto is_overloaded = [&](std::uint32_t block) { return block_weight[block] > max_block_weight[block]; };
  const auto weight_to = [&](std::uint32_t vertex, std::uint32_t block) {
    double weight = 0;
    for (const Edge edge : graph.edges(vertex)) weight += block_of[edge.to] == block ? edge.weight : 0;
    return weight;
  };
  std::vector<std::pair<double, std::uint32_t>> candidates;  // loss, vertex
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    if (is_overloaded(block_of[vertex])) candidates.emplace_back(weight_to(vertex, block_of[vertex]), vertex);
  }
  std::sort(candidates.begin(), candidates.end());
  std::uint32_t first_free = 0;  // all blocks before it are full
  for (const auto& [loss, vertex] : candidates) {
    if (!is_overloaded(block_of[vertex])) continue;
    const auto fits = [&, moving = vertex](std::uint32_t block) {
      return block_weight[block] + graph.vertex_weight(moving) <= max_block_weight[block];
    };
    while (first_free < block_count && block_weight[first_free] >= max_block_weight[first_free]) ++first_free;
    std::uint32_t best = first_free;
    while (best < block_count && !fits(best)) ++best;
    if (best == block_count) continue;
    double best_weight = weight_to(vertex, best);
    for (const Edge edge : graph.edges(vertex)) {
      const std::uint32_t to = block_of[edge.to];
      if (to == best || !fits(to)) continue;
      if (const double weight = weight_to(vertex, to); weight > best_weight) {
        best = to;
        best_weight = weight;
      }
    }
    block_weight[block_of[vertex]] -= graph.vertex_weight(vertex);
    block_weight[best] += graph.vertex_weight(vertex);
    block_of[vertex] = best;
  }
  return !candidates.empty();
}

namespace {

using BlockWeights = std::span<const std::uint64_t>;

class KWayPartitioner {
 public:
  KWayPartitioner(BlockWeights max_block_weight, const PartitionOptions& options)
      : max_block_weight_(max_block_weight), options_(options) {}

  KWayPartition partition(const WeightedGraph& graph, std::uint64_t seed) const {
    const std::uint64_t contraction_limit = std::uint64_t{options_.vertices_per_block} * max_block_weight_.size();
    const auto max_vertex_weight =
        std::max<std::uint64_t>(1, graph.total_vertex_weight() * 3 / (2 * contraction_limit));
    GraphHierarchy hierarchy(graph);
    hierarchy.coarsen(contraction_limit, max_vertex_weight, seed);
    KWayPartition partition = best_initial_partition(hierarchy.coarsest(), seed);
    for (std::size_t level = hierarchy.level_count(); level-- > 1;) {
      partition.block_of = hierarchy.project(level, partition.block_of);
      refine(hierarchy.graph(level - 1), partition);
    }
    if (balance_overloaded_blocks(graph, max_block_weight_, partition.block_of)) refine(graph, partition);
    return partition;
  }

 private:
  KWayPartition best_initial_partition(const WeightedGraph& graph, std::uint64_t seed) const {
    std::vector<KWayPartition> candidates(options_.deadline.passed() ? 1 : options_.repetitions);
    parallel_chunks(candidates.size(), 1,
                    [&](std::size_t at, std::size_t) { candidates[at] = initial_partition(graph, mix(seed) + at); });
    const auto better = [](const KWayPartition& a, const KWayPartition& b) { return a.cut < b.cut; };
    return std::move(*std::min_element(candidates.begin(), candidates.end(), better));
  }

  KWayPartition initial_partition(const WeightedGraph& graph, std::uint64_t seed) const {
    KWayPartition partition{recursive_bisection(graph, max_block_weight_, options_.bisection, seed, options_.deadline),
                            0};
    refine(graph, partition);
    return partition;
  }

  void refine(const WeightedGraph& graph, KWayPartition& partition) const {
    if (options_.deadline.passed()) {
      partition.cut = std::numeric_limits<double>::infinity();
      return;
    }
    partition.cut = fm_kway_cut(graph, max_block_weight_, partition.block_of, options_.fm_passes);
    const std::uint64_t capacity =
        std::accumulate(max_block_weight_.begin(), max_block_weight_.end(), std::uint64_t{0});
    if (options_.flow_rounds == 0 || graph.total_vertex_weight() == capacity) return;
    partition.cut -= flow_refinement(graph, max_block_weight_, partition.block_of, options_.flow_rounds);
  }

  BlockWeights max_block_weight_;
  const PartitionOptions& options_;
};

}  // namespace

KWayPartition partition_kway(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                             const PartitionOptions& options, std::uint64_t seed) {
  return KWayPartitioner(max_block_weight, options).partition(graph, seed);
}

}  // namespace rankloom::multilevel
