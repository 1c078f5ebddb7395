// SPDX-License-Identifier: Apache-2.0
// map/multilevel: multilevel bisection.
#include "rankloom/map/multilevel/bisection.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/gain_heap.hpp"
#include "rankloom/map/multilevel/matching.hpp"
#include "rankloom/map/multilevel/two_sides.hpp"

namespace rankloom::multilevel {
namespace {

using Room = std::array<std::uint64_t, 2>;

/// Vertices of the coarsest graph: enough for several different first divisions.
constexpr std::uint32_t coarse_enough = 150;

/// Side 0 grows from one vertex by the neighbour that is bound most tightly to it, until it holds its share.
std::vector<std::uint8_t> grown(const WeightedGraph& graph, const Room& room, Random& random) {
  const std::uint32_t count = graph.vertex_count();
  std::vector<std::uint8_t> side_of(count, 1);
  const auto share = static_cast<std::uint64_t>(static_cast<double>(graph.total_size()) * static_cast<double>(room[0]) /
                                                static_cast<double>(room[0] + room[1]));
  const std::uint64_t least = graph.total_size() > room[1] ? graph.total_size() - room[1] : 0;
  const std::uint64_t wanted = std::max(least, share);
  HeapPlaces places(count);
  GainHeap near(places);
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t vertex = 0; vertex < count; ++vertex) order[vertex] = vertex;
  random.shuffle(std::span(order));
  std::size_t next = 0;
  for (std::uint64_t held = 0; held < wanted;) {
    while (near.empty() && next < count && side_of[order[next]] == 0) ++next;
    if (near.empty() && next == count) break;
    const std::uint32_t vertex = near.empty() ? order[next] : near.pop();
    side_of[vertex] = 0;
    held += graph.size(vertex);
    for (const Edge edge : graph.edges(vertex)) {
      if (side_of[edge.to] == 0) continue;
      double gain = 0;
      if (near.contains(edge.to)) {
        gain = near.gain(edge.to) + 2 * double{edge.weight};
      } else {
        for (const Edge back : graph.edges(edge.to)) gain += side_of[back.to] == 0 ? back.weight : -back.weight;
      }
      near.set(edge.to, gain);
    }
  }
  return side_of;
}

/// A graph and its coarser pictures.
class Levels {
 public:
  explicit Levels(const WeightedGraph& finest) : finest_(finest) {}

  const WeightedGraph& coarsest() const { return coarser_.empty() ? finest_ : coarser_.back().graph; }

  /// Until there are no more than `enough` vertices, none larger than `largest`; only vertices on one side become one.
  void coarsen(std::uint32_t enough, std::uint64_t largest, std::uint64_t seed, std::vector<std::uint8_t>* side_of) {
    while (coarsest().vertex_count() > enough) {
      const std::vector<std::uint32_t> label = side_of == nullptr
                                                   ? std::vector<std::uint32_t>()
                                                   : std::vector<std::uint32_t>(side_of->begin(), side_of->end());
      auto step = matched(coarsest(), largest, mix(seed + coarser_.size()), label);
      if (step.coarse_count * std::uint64_t{20} > coarsest().vertex_count() * std::uint64_t{19}) break;
      auto next = contracted(coarsest(), step.coarse_of, step.coarse_count);
      if (side_of != nullptr) {
        std::vector<std::uint8_t> sides(step.coarse_count);
        for (std::size_t vertex = 0; vertex < side_of->size(); ++vertex)
          sides[step.coarse_of[vertex]] = (*side_of)[vertex];
        *side_of = std::move(sides);
      }
      coarser_.push_back({std::move(next), std::move(step.coarse_of)});
    }
  }

  /// Brings a division of the coarsest graph down to the finest one.
  Bisection refine(Bisection cut, const Room& room, std::uint32_t passes, bool flows) const {
    for (std::size_t level = coarser_.size(); level-- > 0;) {
      const WeightedGraph& finer = level == 0 ? finest_ : coarser_[level - 1].graph;
      std::vector<std::uint8_t> side_of(finer.vertex_count());
      for (std::uint32_t vertex = 0; vertex < finer.vertex_count(); ++vertex) {
        side_of[vertex] = cut.side_of[coarser_[level].coarse_of[vertex]];
      }
      cut = refined(finer, room, std::move(side_of), passes, flows);
    }
    return cut;
  }

 private:
  struct Level {
    WeightedGraph graph;
    std::vector<std::uint32_t> coarse_of;  // of the finer level
  };
  const WeightedGraph& finest_;
  std::vector<Level> coarser_;
};

class Bisector {
 public:
  Bisector(const Room& room, const BisectionEffort& effort, std::uint64_t total)
      : room_(room),
        effort_(effort),
        smaller_(std::max<std::uint64_t>(1, std::min({room[0], room[1], total}))),
        largest_(std::min(
            smaller_, std::max<std::uint64_t>({2, smaller_ / 4, total * 3 / (std::uint64_t{2} * coarse_enough)}))) {}

  Bisection cut(const WeightedGraph& graph, std::uint64_t seed) const {
    Levels levels(graph);
    levels.coarsen(effort_.decisive,
                   std::max<std::uint64_t>(1, graph.total_size() * 3 / (std::uint64_t{2} * effort_.decisive)), seed,
                   nullptr);
    Bisection best;
    for (std::uint32_t attempt = 0; attempt < effort_.tries; ++attempt) {
      Bisection one = first_cut(levels.coarsest(), mix(seed) + attempt);
      if (attempt == 0 || one.better_than(best)) best = std::move(one);
    }
    for (std::uint32_t cycle = 0; cycle < effort_.cycles; ++cycle) {
      Bisection one = again(levels.coarsest(), best, mix(seed) + ~cycle);
      if (one.better_than(best)) best = std::move(one);
    }
    if (effort_.flows) best = refined(levels.coarsest(), room_, std::move(best.side_of), 1, true);
    return levels.refine(std::move(best), room_, effort_.passes, effort_.flows);
  }

 private:
  Bisection first_cut(const WeightedGraph& graph, std::uint64_t seed) const {
    Levels levels(graph);
    levels.coarsen(coarse_enough, largest_, seed, nullptr);
    Random random(seed, 1);
    Bisection best;
    for (std::uint32_t start = 0; start < effort_.starts; ++start) {
      Bisection one = refined(levels.coarsest(), room_, grown(levels.coarsest(), room_, random), effort_.passes, false);
      if (start == 0 || one.better_than(best)) best = std::move(one);
    }
    return levels.refine(std::move(best), room_, effort_.passes, false);
  }

  Bisection again(const WeightedGraph& graph, const Bisection& cut, std::uint64_t seed) const {
    Levels levels(graph);
    Bisection coarse = cut;
    levels.coarsen(coarse_enough, largest_, seed, &coarse.side_of);
    return levels.refine(refined(levels.coarsest(), room_, coarse.side_of, effort_.passes, false), room_,
                         effort_.passes, false);
  }

  Room room_;
  const BisectionEffort& effort_;
  std::uint64_t smaller_, largest_;
};

}  // namespace

Bisection bisect(const WeightedGraph& graph, std::array<std::uint64_t, 2> room, const BisectionEffort& effort,
                 std::uint64_t seed) {
  if (graph.total_size() <= room[0]) return {std::vector<std::uint8_t>(graph.vertex_count(), 0), 0, 0};
  return Bisector(room, effort, graph.total_size()).cut(graph, seed);
}

}  // namespace rankloom::multilevel
