// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: repeated matching and contraction.
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"

#include <utility>

#include "rankloom/core/memory/pages.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/contraction.hpp"

namespace rankloom::multilevel {
namespace {

using Labels = std::span<const std::uint32_t>;

Labels labels_of(const Array<std::uint32_t>* block_of) {
  return block_of == nullptr ? Labels() : Labels(*block_of);
}

/// The graph shrinks by at least 5 %.
bool is_worthwhile(const Matching& matching) {
  return matching.coarse_count * std::uint64_t{20} <= matching.coarse_of.size() * std::uint64_t{19};
}

void to_coarse_vertices(const Matching& matching, Array<std::uint32_t>* block_of) {
  if (block_of == nullptr) return;
  Array<std::uint32_t> coarse_blocks(matching.coarse_count);
  for (std::size_t vertex = 0; vertex < block_of->size(); ++vertex)
    coarse_blocks[matching.coarse_of[vertex]] = (*block_of)[vertex];
  *block_of = std::move(coarse_blocks);
}

/// How many edges contracting the matching would leave, from one in 16 coarse vertices: the share of their edges that
/// is left, of all edges.
std::uint64_t estimated_edges(const ContractionView& graph, const Matching& matching, std::uint64_t edges) {
  constexpr std::size_t stride = 16;
  const MatchedPairs pairs(matching);
  CoarseRow row(pairs.count());
  std::uint64_t before = 0, after = 0;
  for (std::uint32_t coarse = 0; coarse < pairs.count(); coarse += stride) {
    std::size_t max_edges = 0;
    for (const std::uint32_t vertex : pairs[coarse]) max_edges += graph.max_degree(vertex);
    row.begin(coarse, max_edges);
    for (const std::uint32_t vertex : pairs[coarse])
      for (const Edge edge : graph.edges(vertex)) row.add(matching.coarse_of[edge.to], edge.weight);
    before += max_edges;
    after += row.finish().size();
  }
  return before == 0 ? 0
                     : static_cast<std::uint64_t>(static_cast<double>(edges) * static_cast<double>(after) /
                                                  static_cast<double>(before));
}

}  // namespace

void GraphHierarchy::coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed) {
  coarsen(contraction_limit, max_vertex_weight, seed, nullptr, any_number);
}

void GraphHierarchy::coarsen_within_blocks(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight,
                                           std::uint64_t seed, Array<std::uint32_t>& block_of) {
  coarsen(contraction_limit, max_vertex_weight, seed, &block_of, any_number);
}

bool GraphHierarchy::coarsen_unless_dense(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight,
                                          std::uint64_t seed, std::uint64_t max_edges) {
  if (!coarsen(contraction_limit, max_vertex_weight, seed, nullptr, max_edges)) return false;
  if (coarsest().vertex_count() > contraction_limit || coarsest().edge_count() <= max_edges) return true;
  coarser_.clear();
  return false;
}

/// Returns false, without new levels, if more than max_edges would be left according to a sample.
bool GraphHierarchy::coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             Array<std::uint32_t>* block_of, std::uint64_t max_edges) {
  const TimedSection timing("coarsening");
  while (coarsest().vertex_count() > contraction_limit) {
    Matching matching =
        heavy_edge_matching(coarsest(), max_vertex_weight, mix(seed + coarser_.size()), labels_of(block_of));
    if (!is_worthwhile(matching)) break;
    to_coarse_vertices(matching, block_of);
    if (first_level_ == FirstLevel::recomputed && is_finest() && matching.coarse_count > contraction_limit &&
        !finest_.has_pulls()) {
      const Added added = add_two_levels(contraction_limit, max_vertex_weight, seed, matching, block_of, max_edges);
      if (added == Added::too_dense) return false;
      if (added == Added::both) continue;
    }
    WeightedGraph graph = contract(coarsest(), matching);
    coarser_.push_back({std::move(graph), std::move(matching.coarse_of)});
    if (first_level_ == FirstLevel::recomputed) release_freed_memory();
  }
  return true;
}

/// None if the second one hardly shrinks.
GraphHierarchy::Added GraphHierarchy::add_two_levels(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight,
                                                     std::uint64_t seed, Matching& first,
                                                     Array<std::uint32_t>* block_of, std::uint64_t max_edges) {
  const ContractionView view(finest_, first);
  Matching second = heavy_edge_matching(view, max_vertex_weight, mix(seed + 1), labels_of(block_of));
  if (!is_worthwhile(second)) return Added::none;
  if (max_edges != any_number && second.coarse_count <= contraction_limit &&
      estimated_edges(view, second, finest_.edge_count()) > max_edges)
    return Added::too_dense;
  to_coarse_vertices(second, block_of);
  release_freed_memory();
  WeightedGraph graph = contract(view, second);
  coarser_.push_back({std::nullopt, std::move(first.coarse_of)});
  coarser_.push_back({std::move(graph), std::move(second.coarse_of)});
  return Added::both;
}

Array<std::uint32_t> GraphHierarchy::remove_coarsest() {
  Array<std::uint32_t> coarse_of = std::move(coarser_.back().coarse_of);
  coarser_.pop_back();
  if (first_level_ == FirstLevel::recomputed) release_freed_memory();
  if (!is_finest() && !coarser_.back().graph) {
    Matching matching{std::move(coarser_.back().coarse_of), static_cast<std::uint32_t>(coarse_of.size())};
    coarser_.back().graph = contract(finest_, matching);
    coarser_.back().coarse_of = std::move(matching.coarse_of);
  }
  return coarse_of;
}

}  // namespace rankloom::multilevel
