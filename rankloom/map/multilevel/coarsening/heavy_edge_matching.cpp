// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: a locally heaviest matching in parallel rounds, then two-hop matching.
#include "rankloom/map/multilevel/coarsening/heavy_edge_matching.hpp"

#include <bit>
#include <limits>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/coarsening/contraction.hpp"

namespace rankloom::multilevel {
namespace {

constexpr std::uint32_t unmatched = std::numeric_limits<std::uint32_t>::max();
constexpr int max_rounds = 6;

template <class Graph>
class HeavyEdgeMatcher {
 public:
  HeavyEdgeMatcher(const Graph& graph, std::uint64_t max_vertex_weight, std::uint64_t seed,
                   std::span<const std::uint32_t> labels)
      : graph_(graph),
        max_vertex_weight_(max_vertex_weight),
        seed_(mix(seed)),
        labels_(labels),
        mate_(graph.vertex_count(), unmatched),
        choice_(graph.vertex_count(), unmatched) {}

  Matching run() {
    for (int round = 0; round < max_rounds; ++round) {
      choose_neighbours(round == 0);
      if (match_mutual_choices() * 64 < graph_.vertex_count()) break;
    }
    choice_ = {};
    match_over_two_hops();
    return number_coarse_vertices();
  }

 private:
  bool may_match(std::uint32_t a, std::uint32_t b) const {
    return std::uint64_t{graph_.vertex_weight(a)} + graph_.vertex_weight(b) <= max_vertex_weight_ &&
           (labels_.empty() || labels_[a] == labels_[b]);
  }

  void choose_neighbours(bool first_round) {
    const bool all_may_match = labels_.empty() && 2 * std::uint64_t{graph_.max_vertex_weight()} <= max_vertex_weight_;
    parallel_chunks(graph_.vertex_count(), [&](std::size_t begin, std::size_t end) {
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
        if (mate_[vertex] != unmatched) continue;
        // A choice that is still free stays the best one.
        if (!first_round && (choice_[vertex] == unmatched || mate_[choice_[vertex]] == unmatched)) continue;
        const auto is_free = [&](std::uint32_t to) { return mate_[to] == unmatched; };
        if (!all_may_match) {
          choice_[vertex] = best_neighbour(vertex, [&](auto to) { return is_free(to) && may_match(vertex, to); });
        } else if (first_round) {
          choice_[vertex] = best_neighbour(vertex, [](auto) { return true; });
        } else {
          choice_[vertex] = best_neighbour(vertex, is_free);
        }
      }
    });
  }

  /// The edge rating is KaHIP's "expansion*2". Edges of equal rating are ordered by a random number that both
  /// ends of the edge compute alike. Without branches: most edges of meshes have equal ratings.
  template <class Admits>
  std::uint32_t best_neighbour(std::uint32_t vertex, const Admits& admits) const {
    std::uint32_t best = unmatched;
    std::uint64_t best_key = 0;
    for (const Edge edge : graph_.edges(vertex)) {
      const float rating = edge.weight * edge.weight / static_cast<float>(graph_.vertex_weight(edge.to));
      // The bits of floats that are not negative are in the order of their values.
      const std::uint64_t key = std::uint64_t{std::bit_cast<std::uint32_t>(rating)} << 32 | tie_break(vertex, edge.to);
      const bool is_better = static_cast<unsigned>(key > best_key) & static_cast<unsigned>(admits(edge.to));
      best = is_better ? edge.to : best;
      best_key = is_better ? key : best_key;
    }
    return best;
  }

  std::uint32_t tie_break(std::uint32_t a, std::uint32_t b) const {
    std::uint64_t key = (std::uint64_t{a ^ b} << 32 | (a + b)) * 0x9e3779b97f4a7c15ULL ^ seed_;
    key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::uint32_t>(key >> 32);
  }

  /// Returns the number of vertices that found a mate. Both ends of a mutual choice see it, and each writes its own
  /// mate, so threads need no synchronisation.
  std::uint64_t match_mutual_choices() {
    return parallel_sum<std::uint64_t>(graph_.vertex_count(), [&](std::size_t begin, std::size_t end) {
      std::uint64_t matched = 0;
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
        const std::uint32_t choice = choice_[vertex];
        if (choice == unmatched || choice_[choice] != vertex || mate_[vertex] != unmatched) continue;
        mate_[vertex] = choice;
        ++matched;
      }
      return matched;
    });
  }

  /// Only one leaf of a hub can be matched with the hub. The others have the same neighbourhood, so they are matched
  /// with each other.
  void match_over_two_hops() {
    struct FreeVertex {
      std::uint32_t vertex, heaviest;
    };
    const auto free_vertices = parallel_collect<FreeVertex>(
        graph_.vertex_count(), [&](std::size_t begin, std::size_t end, std::vector<FreeVertex>& found) {
          for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
            if (mate_[vertex] == unmatched && !graph_.edges(vertex).empty())
              found.push_back({vertex, heaviest_neighbour(vertex)});
          }
        });
    Array<std::uint32_t> waiting(graph_.vertex_count(), unmatched);  // by common neighbour
    for (const auto& [vertex, heaviest] : free_vertices) {
      std::uint32_t& other = waiting[heaviest];
      if (other != unmatched && may_match(vertex, other)) {
        mate_[vertex] = other;
        mate_[other] = vertex;
        other = unmatched;
      } else {
        other = vertex;
      }
    }
  }

  std::uint32_t heaviest_neighbour(std::uint32_t vertex) const {
    std::uint32_t heaviest = graph_.edges(vertex).front().to;
    float weight = 0;
    for (const Edge edge : graph_.edges(vertex)) {
      if (edge.weight > weight) {
        weight = edge.weight;
        heaviest = edge.to;
      }
    }
    return heaviest;
  }

  /// Coarse vertices are numbered in the order of their first vertices.
  Matching number_coarse_vertices() const {
    const std::uint32_t count = graph_.vertex_count();
    const auto is_first = [&](std::uint32_t vertex) { return mate_[vertex] >= vertex; };
    std::vector<std::uint32_t> next(count / default_chunk + std::size_t{2}, 0);  // the next number of each chunk
    parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
      std::uint32_t first_vertices = 0;
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex)
        first_vertices += is_first(vertex) ? 1 : 0;
      next[begin / default_chunk + 1] = first_vertices;
    });
    std::partial_sum(next.begin(), next.end(), next.begin());
    Matching result;
    result.coarse_count = next.back();
    result.coarse_of.resize(count);
    parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
      std::uint32_t number = next[begin / default_chunk];
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex)
        if (is_first(vertex)) result.coarse_of[vertex] = number++;
    });
    parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex)
        if (!is_first(vertex)) result.coarse_of[vertex] = result.coarse_of[mate_[vertex]];
    });
    return result;
  }

  const Graph& graph_;
  std::uint64_t max_vertex_weight_, seed_;
  std::span<const std::uint32_t> labels_;
  Array<std::uint32_t> mate_, choice_;
};

}  // namespace

Matching heavy_edge_matching(const WeightedGraph& graph, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::span<const std::uint32_t> labels) {
  const TimedSection timing("matching");
  return HeavyEdgeMatcher(graph, max_vertex_weight, seed, labels).run();
}

Matching heavy_edge_matching(const ContractionView& graph, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::span<const std::uint32_t> labels) {
  const TimedSection timing("matching");
  return HeavyEdgeMatcher(graph, max_vertex_weight, seed, labels).run();
}

}  // namespace rankloom::multilevel
