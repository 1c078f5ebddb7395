// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: repeated matching and contraction.
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"

#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/heavy_edge_matching.hpp"

namespace rankloom::multilevel {

void GraphHierarchy::coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed) {
  coarsen(contraction_limit, max_vertex_weight, seed, nullptr);
}

void GraphHierarchy::coarsen_within_blocks(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight,
                                           std::uint64_t seed, std::vector<std::uint32_t>& block_of) {
  coarsen(contraction_limit, max_vertex_weight, seed, &block_of);
}

void GraphHierarchy::coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::vector<std::uint32_t>* block_of) {
  const TimedSection timing("coarsening");
  while (coarsest().vertex_count() > contraction_limit) {
    const auto labels =
        block_of == nullptr ? std::span<const std::uint32_t>() : std::span<const std::uint32_t>(*block_of);
    Matching matching = heavy_edge_matching(coarsest(), max_vertex_weight, mix(seed + coarser_.size()), labels);
    if (matching.coarse_count * std::uint64_t{20} > coarsest().vertex_count() * std::uint64_t{19}) break;
    WeightedGraph coarser = contract(coarsest(), matching.coarse_of, matching.coarse_count);
    if (block_of != nullptr) {
      std::vector<std::uint32_t> coarse_blocks(matching.coarse_count);
      for (std::size_t vertex = 0; vertex < block_of->size(); ++vertex) {
        coarse_blocks[matching.coarse_of[vertex]] = (*block_of)[vertex];
      }
      *block_of = std::move(coarse_blocks);
    }
    coarser_.push_back({std::move(coarser), std::move(matching.coarse_of)});
  }
}

}  // namespace rankloom::multilevel
