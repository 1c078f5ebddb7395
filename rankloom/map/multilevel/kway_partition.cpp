// SPDX-License-Identifier: Apache-2.0
// map/multilevel: coarsening, initial partitioning, uncoarsening with refinement.
#include "rankloom/map/multilevel/kway_partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"
#include "rankloom/map/multilevel/refinement/annealing.hpp"
#include "rankloom/map/multilevel/refinement/flow_refinement.hpp"
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

namespace rankloom::multilevel {

namespace {

using BlockWeights = std::span<const std::uint64_t>;

/// Moves vertices out of overloaded blocks, those with the smallest loss first. Heavy vertices of coarse graphs can
/// leave overloads that no refinement along edges repairs. Returns whether there was an overload.
bool balance_overloaded_blocks(const WeightedGraph& graph, BlockWeights max_block_weight,
                               std::span<std::uint32_t> block_of) {
  const TimedSection timing("rebalancing");
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

/// Infinite if the time ends before the partition is refined and its cost is computed.
double refined_cost(const WeightedGraph& graph, std::span<std::uint32_t> block_of, const PartitionOptions& options,
                    const PartitionSteps& steps) {
  return options.deadline.passed() ? std::numeric_limits<double>::infinity() : steps.refine(graph, block_of);
}

bool has_lower_cut(const KWayPartition& a, const KWayPartition& b) {
  return a.cut < b.cut;
}

KWayPartition best_initial_partition(const WeightedGraph& graph, const PartitionOptions& options,
                                     const PartitionSteps& steps, std::uint64_t seed) {
  const TimedSection timing("initial partition");
  std::vector<KWayPartition> candidates(options.deadline.passed() ? 1 : options.repetitions);
  parallel_chunks(candidates.size(), 1, [&](std::size_t at, std::size_t) {
    const auto block_of = steps.initial(graph, mix(seed) + at);
    candidates[at].block_of.assign(block_of.begin(), block_of.end());
    candidates[at].cut = refined_cost(graph, candidates[at].block_of, options, steps);
  });
  return std::move(*std::min_element(candidates.begin(), candidates.end(), has_lower_cut));
}

/// Runs on one graph.
class MultilevelRuns {
 public:
  MultilevelRuns(const WeightedGraph& graph, std::size_t block_count, const PartitionOptions& options,
                 const PartitionSteps& steps)
      : graph_(graph),
        options_(options),
        steps_(steps),
        block_count_(static_cast<std::uint32_t>(block_count)),
        contraction_limit_(std::uint64_t{options.vertices_per_block} * block_count),
        max_vertex_weight_(std::max<std::uint64_t>(1, graph.total_vertex_weight() * 3 / (2 * contraction_limit_))) {}

  KWayPartition best(std::uint64_t seed) const {
    std::optional<GraphHierarchy> begun(hierarchy());
    if (steps_.anneal && resists_coarsening(*begun, seed)) {
      begun.reset();
      KWayPartition annealed{steps_.anneal(seed), 0};
      annealed.cut = refined_cost(graph_, annealed.block_of, options_, steps_);
      return annealed;
    }
    // Partitions of the blocks follow, which need time, too.
    const Deadline end_of_runs = options_.deadline.after(0.25), end_of_recombinations = options_.deadline.after(0.5);
    std::vector<KWayPartition> partitions = runs(seed, end_of_runs, std::move(*begun));
    recombine(partitions, seed, end_of_recombinations);
    KWayPartition best = std::move(partitions.front());
    for (std::uint32_t at = 0; at < options_.v_cycles && !options_.deadline.passed(); ++at) {
      KWayPartition next = v_cycle(best, mix(seed) + ~std::uint64_t{at});
      if (has_lower_cut(next, best)) best = std::move(next);
    }
    return best;
  }

 private:
  /// The partitions of all runs, the best first. All presets with several runs need the second one; the third one also
  /// runs at once where there are threads for it, and is ignored if it turns out not to be needed. The first run
  /// continues a hierarchy.
  std::vector<KWayPartition> runs(std::uint64_t seed, const Deadline& end, GraphHierarchy begun) const {
    constexpr double alike = 0.005;  // the seed makes hardly any difference
    std::vector<KWayPartition> found(std::min(options_.runs, thread_count() > 2 ? 3U : 2U));
    parallel_chunks(found.size(), 1, [&](std::size_t at, std::size_t) {
      found[at] = at == 0 ? run(seed, std::move(begun)) : run(mix(seed + at), hierarchy());
    });
    const auto are_alike = [](std::span<const KWayPartition> partitions) {
      const auto [least, most] = std::minmax_element(partitions.begin(), partitions.end(), has_lower_cut);
      return most->cut - least->cut <= alike * least->cut;
    };
    for (std::size_t count = 2; count < options_.runs; ++count) {
      const bool is_enough = options_.recombinations == 0 && are_alike(std::span(found).first(count));
      if (is_enough || (count == found.size() && end.passed())) {
        found.resize(count);
        break;
      }
      if (count == found.size()) found.push_back(run(mix(seed + count), hierarchy()));
    }
    std::stable_sort(found.begin(), found.end(), has_lower_cut);
    return found;
  }

  /// Each takes the best partition and one of the others as parents, and replaces the worst one. Ends when several in a
  /// row gave no better one.
  void recombine(std::vector<KWayPartition>& partitions, std::uint64_t seed, const Deadline& end) const {
    constexpr std::uint32_t max_failures = 5;
    if (block_count_ > max_blocks_to_recombine) return;
    std::uint32_t failures = 0;
    for (std::uint32_t at = 0; at < options_.recombinations && partitions.size() > 1; ++at) {
      if (end.passed() || failures == max_failures) return;
      const KWayPartition& other = partitions[1 + at % (partitions.size() - 1)];
      KWayPartition child = recombined(partitions.front(), other, mix(seed + at) + 1);
      failures = has_lower_cut(child, partitions.front()) ? 0 : failures + 1;
      if (!has_lower_cut(child, partitions.back())) continue;
      partitions.pop_back();
      partitions.insert(std::upper_bound(partitions.begin(), partitions.end(), child, has_lower_cut), child);
    }
  }

  GraphHierarchy hierarchy() const { return GraphHierarchy(graph_, options_.first_level); }

  KWayPartition run(std::uint64_t seed, GraphHierarchy hierarchy) const {
    hierarchy.coarsen(contraction_limit_, max_vertex_weight_, seed);
    KWayPartition partition = best_initial_partition(hierarchy.coarsest(), options_, steps_, seed);
    return uncoarsened(std::move(hierarchy), std::move(partition));
  }

  /// Coarsens the graph within blocks, so that other groups of vertices than before move between them.
  KWayPartition v_cycle(const KWayPartition& partition, std::uint64_t seed) const {
    const TimedSection timing("V-cycle");
    KWayPartition refined = partition;
    GraphHierarchy coarsened = hierarchy();
    coarsened.coarsen_within_blocks(contraction_limit_, max_vertex_weight_, seed, refined.block_of);
    refined.cut = refined_cost(coarsened.coarsest(), refined.block_of, options_, steps_);
    return uncoarsened(std::move(coarsened), std::move(refined));
  }

  /// As in KaFFPaE (Sanders, Schulz 2012): no edge that one of the two partitions cuts is contracted, so that
  /// refinement of the better one can exchange what distinguishes them as a whole.
  KWayPartition recombined(const KWayPartition& better, const KWayPartition& other, std::uint64_t seed) const {
    const TimedSection timing("recombination");
    Array<std::uint32_t> common(better.block_of.size());
    for (std::size_t vertex = 0; vertex < common.size(); ++vertex)
      common[vertex] = better.block_of[vertex] * block_count_ + other.block_of[vertex];
    GraphHierarchy coarsened = hierarchy();
    coarsened.coarsen_within_blocks(contraction_limit_, max_vertex_weight_, seed, common);
    KWayPartition child{std::move(common), 0};
    for (std::uint32_t& block : child.block_of) block /= block_count_;
    child.cut = refined_cost(coarsened.coarsest(), child.block_of, options_, steps_);
    return uncoarsened(std::move(coarsened), std::move(child));
  }

  /// Contracting half of the vertices twice merges few parallel edges: the graph has no clusters of that size. Of a
  /// mesh or a road network, a third of the edges is left, of sparse random and power-law graphs four fifths. Leaves
  /// the first levels of the hierarchy, unless the contraction limit needs fewer.
  bool resists_coarsening(GraphHierarchy& hierarchy, std::uint64_t seed) const {
    constexpr std::uint32_t min_vertices_per_block = 64;
    const std::uint32_t some = graph_.vertex_count() / 3;
    if (some < min_vertices_per_block * block_count_) return false;
    GraphHierarchy other = this->hierarchy();
    const bool is_small = some < contraction_limit_;
    // Heavy vertices or hubs can end the coarsening before.
    return !(is_small ? other : hierarchy)
                .coarsen_unless_dense(
                    some, is_small ? 6 * graph_.total_vertex_weight() / graph_.vertex_count() : max_vertex_weight_,
                    seed, 2 * graph_.edge_count() / 3);
  }

  /// Projects a partition of the coarsest graph, and refines it on every level.
  KWayPartition uncoarsened(GraphHierarchy hierarchy, KWayPartition partition) const {
    while (!hierarchy.is_finest()) {
      partition.block_of = hierarchy.uncoarsen(partition.block_of);
      partition.cut = refined_cost(hierarchy.coarsest(), partition.block_of, options_, steps_);
    }
    return partition;
  }

  const WeightedGraph& graph_;
  const PartitionOptions& options_;
  const PartitionSteps& steps_;
  static constexpr std::uint32_t max_blocks_to_recombine = 0xffff;  // a pair of blocks is a 32-bit number
  std::uint32_t block_count_;
  std::uint64_t contraction_limit_, max_vertex_weight_;
};

}  // namespace

KWayPartition partition_multilevel(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                                   const PartitionOptions& options, const PartitionSteps& steps, std::uint64_t seed) {
  KWayPartition partition = MultilevelRuns(graph, max_block_weight.size(), options, steps).best(seed);
  if (balance_overloaded_blocks(graph, max_block_weight, partition.block_of))
    partition.cut = refined_cost(graph, partition.block_of, options, steps);
  return partition;
}

KWayPartition partition_kway(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                             const PartitionOptions& options, std::uint64_t seed) {
  const std::uint64_t capacity = std::accumulate(max_block_weight.begin(), max_block_weight.end(), std::uint64_t{0});
  PartitionSteps steps{.initial =
                           [&](const WeightedGraph& coarsest, std::uint64_t initial_seed) {
                             return recursive_bisection(coarsest, max_block_weight, options.bisection, initial_seed,
                                                        options.deadline);
                           },
                       .refine =
                           [&](const WeightedGraph& level, std::span<std::uint32_t> block_of) {
                             const double cut = fm_kway_cut(level, max_block_weight, block_of, options.fm_passes);
                             if (options.flow_rounds == 0 || level.total_vertex_weight() == capacity) return cut;
                             return cut - flow_refinement(level, max_block_weight, block_of, options.flow_rounds);
                           },
                       .anneal = {}};
  const bool has_slack = graph.total_vertex_weight() * 501 < capacity * 500;
  if (options.annealing_sweeps > 0 && has_slack && max_block_weight.size() <= max_blocks_to_anneal) {
    steps.anneal = [&](std::uint64_t annealing_seed) {
      return annealed_partition(graph, max_block_weight, {options.annealing_sweeps, options.deadline.after(0.5)},
                                annealing_seed);
    };
  }
  return partition_multilevel(graph, max_block_weight, options, steps, seed);
}

}  // namespace rankloom::multilevel
