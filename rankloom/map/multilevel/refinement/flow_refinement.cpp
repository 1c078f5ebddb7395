// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: schedules min-cut searches between all pairs of adjacent blocks.
#include "rankloom/map/multilevel/refinement/flow_refinement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/refinement/band_min_cut.hpp"

namespace rankloom::multilevel {
namespace {

/// Limits of the weight of the band on each side of a boundary, relative to the boundary and to the weight that may
/// change sides. Wider bands take longer, and their minimum cuts mostly violate the balance.
constexpr std::uint64_t max_band_per_boundary = 3;
constexpr std::uint64_t max_band_per_free_weight = 16;

class FlowRefinement {
 public:
  FlowRefinement(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                 std::span<std::uint32_t> block_of)
      : graph_(graph),
        max_block_weight_(max_block_weight),
        block_of_(block_of),
        block_weight_(max_block_weight.size(), 0),
        changed_(max_block_weight.size(), 1) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex)
      block_weight_[block_of_[vertex]] += graph_.vertex_weight(vertex);
  }

  double run(std::uint32_t rounds) {
    double gain = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const double gain_before = gain;
      gain += refine_pairs(schedule_pairs());
      if (gain == gain_before) break;
    }
    return gain;
  }

 private:
  struct BlockPair {
    std::uint32_t a, b;
    std::vector<std::uint32_t> boundary;
  };

  std::uint32_t block(std::uint32_t vertex) const {
    // Other threads may be moving vertices between the two blocks of their pair; this pair contains neither of them.
    return std::atomic_ref(block_of_[vertex]).load(std::memory_order_relaxed);
  }

  /// The adjacent pairs of which at least one block changed since the last time.
  std::vector<BlockPair> schedule_pairs() {
    const auto is_open_pair = [&](std::uint32_t own, std::uint32_t other) {
      return own != other && (changed_[own] != 0 || changed_[other] != 0);
    };
    const auto boundary = parallel_collect<std::uint32_t>(
        graph_.vertex_count(), [&](std::size_t begin, std::size_t end, std::vector<std::uint32_t>& found) {
          for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
            const auto edges = graph_.edges(vertex);
            const auto leads_out = [&](const Edge& edge) {
              return is_open_pair(block_of_[vertex], block_of_[edge.to]);
            };
            if (std::any_of(edges.begin(), edges.end(), leads_out)) found.push_back(vertex);
          }
        });
    std::map<std::pair<std::uint32_t, std::uint32_t>, BlockPair> adjacent;
    for (const std::uint32_t vertex : boundary) {
      const std::uint32_t own = block_of_[vertex];
      for (const Edge edge : graph_.edges(vertex)) {
        const std::uint32_t other = block_of_[edge.to];
        if (!is_open_pair(own, other)) continue;
        BlockPair& pair = adjacent[std::minmax(own, other)];
        if (pair.boundary.empty() || pair.boundary.back() != vertex) pair.boundary.push_back(vertex);
      }
    }
    std::vector<BlockPair> pairs;
    for (auto& [blocks, pair] : adjacent) {
      pair.a = blocks.first;
      pair.b = blocks.second;
      pairs.push_back(std::move(pair));
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const BlockPair& x, const BlockPair& y) { return x.boundary.size() > y.boundary.size(); });
    std::fill(changed_.begin(), changed_.end(), 0);
    return in_disjoint_groups(std::move(pairs));
  }

  /// One group after another. Pairs with the longest boundaries come first, each in the first group in which both
  /// blocks are free.
  std::vector<BlockPair> in_disjoint_groups(std::vector<BlockPair> pairs) const {
    std::vector<std::vector<BlockPair>> groups;
    std::vector<std::vector<std::uint8_t>> busy;
    for (BlockPair& pair : pairs) {
      std::size_t group = 0;
      while (group < groups.size() && (busy[group][pair.a] != 0 || busy[group][pair.b] != 0)) ++group;
      if (group == groups.size()) {
        groups.emplace_back();
        busy.emplace_back(max_block_weight_.size(), 0);
      }
      busy[group][pair.a] = busy[group][pair.b] = 1;
      groups[group].push_back(std::move(pair));
    }
    pairs.clear();
    for (auto& group : groups) std::move(group.begin(), group.end(), std::back_inserter(pairs));
    return pairs;
  }

  /// A pair begins when the pairs before it that share a block with it have ended.
  double refine_pairs(const std::vector<BlockPair>& pairs) {
    constexpr std::uint32_t no_pair = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> last_pair_of(max_block_weight_.size(), no_pair);
    std::vector<std::vector<std::uint32_t>> successors(pairs.size());
    for (std::uint32_t at = 0; at < pairs.size(); ++at) {
      for (const std::uint32_t block : {pairs[at].a, pairs[at].b}) {
        const std::uint32_t before = std::exchange(last_pair_of[block], at);
        if (before != no_pair) successors[before].push_back(at);
      }
    }
    std::vector<double> gains(pairs.size(), 0);
    parallel_tasks(successors, [&](std::size_t at) { gains[at] = refine_pair(pairs[at]); });
    return std::accumulate(gains.begin(), gains.end(), 0.0);
  }

  double refine_pair(const BlockPair& pair) {
    BandMinCut& min_cut = min_cuts_.local();
    std::vector<std::uint32_t> boundary = pair.boundary;
    const auto side = [&](std::uint32_t vertex) {
      const std::uint32_t own = block(vertex);
      return own == pair.a ? 0U : own == pair.b ? 1U : 2U;
    };
    using Band = std::array<std::uint64_t, 2>;
    std::optional<Band> without_gain;  // the last search found nothing in a band of this weight
    double gain = 0;
    for (std::uint64_t band_per_free_weight = max_band_per_free_weight; band_per_free_weight > 0;) {
      std::erase_if(boundary, [&](std::uint32_t vertex) { return side(vertex) > 1; });
      if (boundary.empty() || block_weight_[pair.a] > max_block_weight_[pair.a] ||
          block_weight_[pair.b] > max_block_weight_[pair.b]) {
        break;
      }
      const std::uint64_t free_weight[2] = {max_block_weight_[pair.a] - block_weight_[pair.a],
                                            max_block_weight_[pair.b] - block_weight_[pair.b]};
      const std::uint64_t max_band =
          max_band_per_boundary * boundary.size() * graph_.total_vertex_weight() / graph_.vertex_count();
      const Band band{std::min({band_per_free_weight * free_weight[1], block_weight_[pair.a] / 2, max_band}),
                      std::min({band_per_free_weight * free_weight[0], block_weight_[pair.b] / 2, max_band})};
      if (band == without_gain) {  // limited by the boundary: no narrower than before
        band_per_free_weight /= 4;
        continue;
      }
      const auto result = min_cut.search(graph_, side, boundary, band, static_cast<std::int64_t>(free_weight[0]),
                                         static_cast<std::int64_t>(free_weight[1]));
      if (result.is_minimum) break;  // nor in a narrower band
      if (result.gain == 0) {
        band_per_free_weight /= 4;
        without_gain = band;
        continue;
      }
      without_gain.reset();
      gain += result.gain;
      changed_[pair.a] = changed_[pair.b] = 1;
      for (const int side_index : {0, 1}) {
        const std::uint32_t from = side_index == 0 ? pair.b : pair.a;
        const std::uint32_t to = side_index == 0 ? pair.a : pair.b;
        for (const std::uint32_t vertex : result.moves_to_side[side_index]) {
          block_weight_[from] -= graph_.vertex_weight(vertex);
          block_weight_[to] += graph_.vertex_weight(vertex);
          std::atomic_ref(block_of_[vertex]).store(to, std::memory_order_relaxed);
        }
      }
      boundary = boundary_after(result, boundary, side);
    }
    return gain;
  }

  /// The new boundary consists of old boundary vertices, moved vertices and neighbours of moved vertices.
  template <class Side>
  std::vector<std::uint32_t> boundary_after(const BandMinCut::Result& result, std::vector<std::uint32_t> candidates,
                                            const Side& side) const {
    for (const auto& moved : result.moves_to_side) {
      for (const std::uint32_t vertex : moved) {
        candidates.push_back(vertex);
        for (const Edge edge : graph_.edges(vertex)) candidates.push_back(edge.to);
      }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::erase_if(candidates, [&](std::uint32_t vertex) {
      const auto own = side(vertex);
      return own > 1 || std::none_of(graph_.edges(vertex).begin(), graph_.edges(vertex).end(),
                                     [&](const Edge& edge) { return side(edge.to) == 1 - own; });
    });
    return candidates;
  }

  const WeightedGraph& graph_;
  std::span<const std::uint64_t> max_block_weight_;
  std::span<std::uint32_t> block_of_;
  std::vector<std::uint64_t> block_weight_;
  std::vector<std::uint8_t> changed_;
  oneapi::tbb::enumerable_thread_specific<BandMinCut> min_cuts_{[this] { return BandMinCut(graph_.vertex_count()); }};
};

}  // namespace

double flow_refinement(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                       std::span<std::uint32_t> block_of, std::uint32_t rounds) {
  const TimedSection timing("flow refinement");
  return FlowRefinement(graph, max_block_weight, block_of).run(rounds);
}

}  // namespace rankloom::multilevel
