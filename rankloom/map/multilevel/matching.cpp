// SPDX-License-Identifier: Apache-2.0
// map/multilevel: a locally heaviest matching.
#include "rankloom/map/multilevel/matching.hpp"

#include <limits>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom::multilevel {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
constexpr int most_rounds = 6;

class Matching {
 public:
  Matching(const WeightedGraph& graph, std::uint64_t largest, std::uint64_t seed, std::span<const std::uint32_t> label)
      : graph_(graph),
        largest_(largest),
        seed_(mix(seed)),
        label_(label),
        mate_(graph.vertex_count(), nobody),
        choice_(graph.vertex_count(), nobody) {}

  Coarsening run() {
    for (int round = 0; round < most_rounds; ++round) {
      choose(round == 0);
      if (pair_up() * 64 < graph_.vertex_count()) break;
    }
    pair_over_two_hops();
    return number();
  }

 private:
  bool fits(std::uint32_t a, std::uint32_t b) const {
    return std::uint64_t{graph_.size(a)} + graph_.size(b) <= largest_ && (label_.empty() || label_[a] == label_[b]);
  }

  /// Weight for the size of what it makes, as KaHIP's "expansion squared" rates edges; equal ones in a random order
  /// that both ends see.
  void choose(bool first) {
    parallel_chunks(graph_.vertex_count(), [&](std::size_t begin, std::size_t end) {
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
        if (mate_[vertex] != nobody) continue;
        // Whoever has a choice that is still free keeps it.
        if (!first && (choice_[vertex] == nobody || mate_[choice_[vertex]] == nobody)) continue;
        choice_[vertex] = best_free_neighbour(vertex);
      }
    });
  }

  std::uint32_t best_free_neighbour(std::uint32_t vertex) const {
    std::uint32_t best = nobody;
    float best_rating = 0;
    std::uint32_t best_tie = 0;
    for (const Edge edge : graph_.edges(vertex)) {
      if (mate_[edge.to] != nobody || !fits(vertex, edge.to)) continue;
      const float rating = edge.weight * edge.weight / static_cast<float>(graph_.size(edge.to));
      if (rating < best_rating) continue;
      const std::uint32_t tie = order_of(vertex, edge.to);
      if (rating > best_rating || tie > best_tie || (tie == best_tie && edge.to < best)) {
        best = edge.to;
        best_rating = rating;
        best_tie = tie;
      }
    }
    return best;
  }

  std::uint32_t order_of(std::uint32_t a, std::uint32_t b) const {
    std::uint64_t key = (std::uint64_t{a ^ b} << 32 | (a + b)) * 0x9e3779b97f4a7c15ULL ^ seed_;
    key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::uint32_t>(key >> 32);
  }

  std::uint64_t pair_up() {
    // Two who name each other see the same, so both write their own mate and nobody waits for anybody.
    return parallel_sum<std::uint64_t>(graph_.vertex_count(), [&](std::size_t begin, std::size_t end) {
      std::uint64_t paired = 0;
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
        const std::uint32_t wish = choice_[vertex];
        if (wish == nobody || choice_[wish] != vertex || mate_[vertex] != nobody) continue;
        mate_[vertex] = wish;
        ++paired;
      }
      return paired;
    });
  }

  /// Leaves of a hub can never be matched with it all; they are alike, so they may be matched with each other.
  void pair_over_two_hops() {
    std::vector<std::uint32_t> waiting(graph_.vertex_count(), nobody);  // by common neighbour
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      if (mate_[vertex] != nobody || graph_.edges(vertex).empty()) continue;
      std::uint32_t heaviest = graph_.edges(vertex).front().to;
      float weight = 0;
      for (const Edge edge : graph_.edges(vertex)) {
        if (edge.weight > weight) {
          weight = edge.weight;
          heaviest = edge.to;
        }
      }
      std::uint32_t& other = waiting[heaviest];
      if (other != nobody && fits(vertex, other)) {
        mate_[vertex] = other;
        mate_[other] = vertex;
        other = nobody;
      } else {
        other = vertex;
      }
    }
  }

  Coarsening number() const {
    Coarsening result;
    result.coarse_of.resize(graph_.vertex_count());
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      const std::uint32_t mate = mate_[vertex];
      result.coarse_of[vertex] = mate < vertex ? result.coarse_of[mate] : result.coarse_count++;
    }
    return result;
  }

  const WeightedGraph& graph_;
  std::uint64_t largest_, seed_;
  std::span<const std::uint32_t> label_;
  std::vector<std::uint32_t> mate_, choice_;
};

}  // namespace

Coarsening matched(const WeightedGraph& graph, std::uint64_t largest, std::uint64_t seed,
                   std::span<const std::uint32_t> label) {
  return Matching(graph, largest, seed, label).run();
}

}  // namespace rankloom::multilevel
