// SPDX-License-Identifier: Apache-2.0
// map/multilevel/initial_partitioning: multilevel bisection with greedy graph growing.
#include "rankloom/map/multilevel/initial_partitioning/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"
#include "rankloom/map/multilevel/refinement/gain_queue.hpp"

namespace rankloom::multilevel {
namespace {

/// Vertices of the coarsest graph: enough for several different initial bipartitions.
constexpr std::uint32_t contraction_limit = 150;

/// Greedy graph growing (Karypis, Kumar 1998): side 0 grows from the first vertex of `seeds`, or from the one that is
/// pulled to it most, always by the vertex with the best gain, until it has its proportion of the vertex weight.
std::vector<std::uint8_t> greedy_graph_growing(const WeightedGraph& graph, const SideWeights& max_block_weight,
                                               std::vector<std::uint32_t> seeds) {
  const std::uint32_t count = graph.vertex_count();
  std::vector<std::uint8_t> side_of(count, 1);
  const std::uint64_t total = graph.total_vertex_weight();
  const auto proportional =
      static_cast<std::uint64_t>(static_cast<double>(total) * static_cast<double>(max_block_weight[0]) /
                                 static_cast<double>(max_block_weight[0] + max_block_weight[1]));
  const std::uint64_t required = total > max_block_weight[1] ? total - max_block_weight[1] : 0;
  const std::uint64_t target_weight = std::max(required, proportional);
  QueuePositions positions(count);
  GainQueue frontier(positions);
  if (graph.has_pulls()) {
    std::stable_sort(seeds.begin(), seeds.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return graph.pull(a) < graph.pull(b); });
  }
  std::size_t next_seed = 0;
  for (std::uint64_t block_weight = 0; block_weight < target_weight;) {
    while (frontier.empty() && next_seed < count && side_of[seeds[next_seed]] == 0) ++next_seed;
    if (frontier.empty() && next_seed == count) break;
    const std::uint32_t vertex = frontier.empty() ? seeds[next_seed] : frontier.pop();
    side_of[vertex] = 0;
    block_weight += graph.vertex_weight(vertex);
    for (const Edge edge : graph.edges(vertex)) {
      if (side_of[edge.to] == 0) continue;
      double gain = 0;
      if (frontier.contains(edge.to)) {
        gain = frontier.gain(edge.to) + 2 * double{edge.weight};
      } else {
        gain = -double{graph.pull(edge.to)};
        for (const Edge back : graph.edges(edge.to)) gain += side_of[back.to] == 0 ? back.weight : -back.weight;
      }
      frontier.set(edge.to, gain);
    }
  }
  return side_of;
}

/// The best of count candidates, the first of equals.
template <class Candidate>
Bipartition best_of(std::uint32_t count, const Candidate& candidate) {
  std::vector<Bipartition> candidates(count);
  parallel_chunks(count, 1,
                  [&](std::size_t at, std::size_t) { candidates[at] = candidate(static_cast<std::uint32_t>(at)); });
  std::size_t best = 0;
  for (std::size_t at = 1; at < count; ++at) {
    if (candidates[at].better_than(candidates[best])) best = at;
  }
  return std::move(candidates[best]);
}

class Bisector {
 public:
  Bisector(const SideWeights& max_block_weight, const BisectionOptions& options, std::uint64_t total_vertex_weight)
      : max_block_weight_(max_block_weight), options_(options) {
    const auto smaller_side =
        std::max<std::uint64_t>(1, std::min({max_block_weight[0], max_block_weight[1], total_vertex_weight}));
    max_vertex_weight_ = std::min(
        smaller_side, std::max<std::uint64_t>(
                          {2, smaller_side / 4, total_vertex_weight * 3 / (std::uint64_t{2} * contraction_limit)}));
  }

  Bipartition bisect(const WeightedGraph& graph, std::uint64_t seed) const {
    GraphHierarchy hierarchy(graph);
    hierarchy.coarsen(
        options_.coarse_vertices,
        std::max<std::uint64_t>(1, graph.total_vertex_weight() * 3 / (std::uint64_t{2} * options_.coarse_vertices)),
        seed);
    Bipartition best = best_of(options_.repetitions, [&](std::uint32_t repetition) {
      return multilevel_run(hierarchy.coarsest(), mix(seed) + repetition);
    });
    if (options_.flow_refinement)
      best = fm_bipartition(hierarchy.coarsest(), max_block_weight_, std::move(best.side_of), 1, true);
    return uncoarsened(std::move(hierarchy), std::move(best), options_.flow_refinement);
  }

 private:
  /// Coarsening, the best of several greedy graph growings, and refinement on every level.
  Bipartition multilevel_run(const WeightedGraph& graph, std::uint64_t seed) const {
    GraphHierarchy hierarchy(graph);
    hierarchy.coarsen(contraction_limit, max_vertex_weight_, seed);
    const WeightedGraph& coarsest = hierarchy.coarsest();
    Random random(seed, 1);
    std::vector<std::vector<std::uint32_t>> seeds(options_.initial_attempts,
                                                  std::vector<std::uint32_t>(coarsest.vertex_count()));
    for (auto& order : seeds) {
      std::iota(order.begin(), order.end(), 0U);
      random.shuffle(std::span(order));
    }
    Bipartition best = best_of(options_.initial_attempts, [&](std::uint32_t attempt) {
      return fm_bipartition(coarsest, max_block_weight_,
                            greedy_graph_growing(coarsest, max_block_weight_, std::move(seeds[attempt])),
                            options_.fm_passes, false);
    });
    return uncoarsened(std::move(hierarchy), std::move(best), false);
  }

  /// Projects a bipartition of the coarsest graph to the finest one and refines it on every level.
  Bipartition uncoarsened(GraphHierarchy hierarchy, Bipartition bipartition, bool use_flow) const {
    while (!hierarchy.is_finest()) {
      auto side_of = hierarchy.uncoarsen(bipartition.side_of);
      bipartition =
          fm_bipartition(hierarchy.coarsest(), max_block_weight_, std::move(side_of), options_.fm_passes, use_flow);
    }
    return bipartition;
  }

  SideWeights max_block_weight_;
  const BisectionOptions& options_;
  std::uint64_t max_vertex_weight_;
};

}  // namespace

Bipartition bisect(const WeightedGraph& graph, const SideWeights& max_block_weight, const BisectionOptions& options,
                   std::uint64_t seed) {
  const std::uint64_t total_weight = graph.total_vertex_weight();
  if (!graph.has_pulls() && total_weight <= max_block_weight[0])
    return {std::vector<std::uint8_t>(graph.vertex_count(), 0), 0, 0};
  Bipartition best = Bisector(max_block_weight, options, total_weight).bisect(graph, seed);
  for (std::uint8_t side = 0; side < 2 && graph.has_pulls(); ++side) {
    if (total_weight > max_block_weight[side]) continue;
    Bipartition all_on_side =
        fm_bipartition(graph, max_block_weight, std::vector(graph.vertex_count(), side), options.fm_passes, false);
    if (all_on_side.better_than(best)) best = std::move(all_on_side);
  }
  return best;
}

SideWeights side_weights(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right,
                         std::uint64_t total_weight) {
  const auto total = [](std::span<const std::uint64_t> weights) {
    return std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  };
  SideWeights max_block_weight{total(left), total(right)};
  const double slack_factor =
      static_cast<double>(max_block_weight[0] + max_block_weight[1]) / static_cast<double>(total_weight);
  if (slack_factor > 1.2) return max_block_weight;
  const double bisections = std::ceil(portable_log2(static_cast<double>(left.size() + right.size())));
  const double factor = portable_pow(slack_factor, 1 / bisections) / slack_factor;
  for (std::uint64_t& side : max_block_weight) {
    side = std::min(side, static_cast<std::uint64_t>(std::ceil(static_cast<double>(side) * factor)));
  }
  return max_block_weight;
}

namespace {

using BlockWeights = std::span<const std::uint64_t>;

class RecursiveBisection {
 public:
  RecursiveBisection(const BisectionOptions& options, const Deadline& deadline, std::span<std::uint32_t> block_of)
      : options_(options), deadline_(deadline), block_of_(block_of) {}

  void run(const Subgraph& subgraph, BlockWeights max_block_weight, std::uint32_t first_block,
           std::uint64_t seed) const {
    if (max_block_weight.size() == 1 || subgraph.original.empty()) {
      for (const std::uint32_t vertex : subgraph.original) block_of_[vertex] = first_block;
      return;
    }
    if (deadline_.passed()) return fill_in_order(subgraph, max_block_weight, first_block);
    const auto left = max_block_weight.first(max_block_weight.size() / 2);
    const auto right = max_block_weight.subspan(max_block_weight.size() / 2);
    const SideWeights sides_weigh = side_weights(left, right, subgraph.graph.total_vertex_weight());
    const Bipartition bipartition = bisect(subgraph.graph, sides_weigh, options_, seed);
    auto sides = side_subgraphs(subgraph.graph, bipartition.side_of);
    for (Subgraph* const side : {&sides.first, &sides.second}) {
      for (std::uint32_t& vertex : side->original) vertex = subgraph.original[vertex];
    }
    parallel_chunks(2, 1, [&](std::size_t side, std::size_t) {
      if (side == 0) {
        run(sides.first, left, first_block, mix(seed + 1));
      } else {
        run(sides.second, right, first_block + static_cast<std::uint32_t>(left.size()), mix(seed + 2));
      }
    });
  }

 private:
  /// Fills one block after another with the vertices in their order.
  void fill_in_order(const Subgraph& subgraph, BlockWeights max_block_weight, std::uint32_t first_block) const {
    std::size_t block = 0;
    std::uint64_t block_weight = 0;
    for (std::uint32_t vertex = 0; vertex < subgraph.original.size(); ++vertex) {
      const std::uint64_t weight = subgraph.graph.vertex_weight(vertex);
      for (; block + 1 < max_block_weight.size() && block_weight + weight > max_block_weight[block]; block_weight = 0)
        ++block;
      block_weight += weight;
      block_of_[subgraph.original[vertex]] = first_block + static_cast<std::uint32_t>(block);
    }
  }

  const BisectionOptions& options_;
  const Deadline& deadline_;
  std::span<std::uint32_t> block_of_;
};

}  // namespace

std::vector<std::uint32_t> recursive_bisection(const WeightedGraph& graph,
                                               std::span<const std::uint64_t> max_block_weight,
                                               const BisectionOptions& options, std::uint64_t seed,
                                               const Deadline& deadline) {
  const TimedSection timing("recursive bisection");
  Subgraph all{graph, std::vector<std::uint32_t>(graph.vertex_count())};
  std::iota(all.original.begin(), all.original.end(), 0U);
  std::vector<std::uint32_t> block_of(graph.vertex_count());
  RecursiveBisection(options, deadline, block_of).run(all, max_block_weight, 0, seed);
  return block_of;
}

}  // namespace rankloom::multilevel
