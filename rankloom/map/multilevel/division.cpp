// SPDX-License-Identifier: Apache-2.0
// map/multilevel: multilevel k-way division.
#include "rankloom/map/multilevel/division.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/matching.hpp"
#include "rankloom/map/multilevel/pair_flows.hpp"
#include "rankloom/map/multilevel/part_moves.hpp"

namespace rankloom::multilevel {
namespace {

using Rooms = std::span<const std::uint64_t>;

struct Level {
  WeightedGraph graph;
  std::vector<std::uint32_t> coarse_of;  // of the finer level
};

std::uint64_t total(Rooms rooms) {
  return std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0});
}

/// What remains free is not given away at once: each of the cuts still to come gets an equal factor of it.
std::array<std::uint64_t, 2> rooms_of(Rooms left, Rooms right, const WeightedGraph& graph) {
  std::array<std::uint64_t, 2> room{total(left), total(right)};
  const double factor = static_cast<double>(room[0] + room[1]) / static_cast<double>(graph.total_size());
  if (factor > 1.2) return room;
  const double cuts = std::ceil(std::log2(static_cast<double>(left.size() + right.size())));
  const double allowed = std::pow(factor, 1 / cuts) / factor;
  for (std::uint64_t& side : room) {
    side = std::min(side, static_cast<std::uint64_t>(std::ceil(static_cast<double>(side) * allowed)));
  }
  return room;
}

/// In their order into one part after another, as many as each has room for.
void fill(const Subgraph& share, Rooms room, std::uint32_t first, std::span<std::uint32_t> part_of) {
  std::size_t part = 0;
  std::uint64_t held = 0;
  for (std::uint32_t vertex = 0; vertex < share.original.size(); ++vertex) {
    for (; part + 1 < room.size() && held + share.graph.size(vertex) > room[part]; held = 0) ++part;
    held += share.graph.size(vertex);
    part_of[share.original[vertex]] = first + static_cast<std::uint32_t>(part);
  }
}

/// Out of parts that are too full into some that are not, those first who lose least: large vertices of coarse graphs
/// may leave what no search that moves along edges can put right.
bool relieve(const WeightedGraph& graph, Rooms room, std::span<std::uint32_t> part_of) {
  std::vector<std::uint64_t> held(room.size(), 0);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) held[part_of[vertex]] += graph.size(vertex);
  const auto too_full = [&](std::uint32_t part) { return held[part] > room[part]; };
  const auto weight_to = [&](std::uint32_t vertex, std::uint32_t part) {
    double weight = 0;
    for (const Edge edge : graph.edges(vertex)) weight += part_of[edge.to] == part ? edge.weight : 0;
    return weight;
  };
  std::vector<std::pair<double, std::uint32_t>> leavers;  // by what they lose
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    if (too_full(part_of[vertex])) leavers.emplace_back(weight_to(vertex, part_of[vertex]), vertex);
  }
  std::sort(leavers.begin(), leavers.end());
  std::uint32_t next = 0;  // parts before have no room
  for (const auto& [loss, vertex] : leavers) {
    if (!too_full(part_of[vertex])) continue;
    const auto fits = [&, mover = vertex](std::uint32_t part) { return held[part] + graph.size(mover) <= room[part]; };
    while (next < room.size() && held[next] >= room[next]) ++next;
    std::uint32_t best = next;
    while (best < room.size() && !fits(best)) ++best;
    if (best == room.size()) continue;
    double most = weight_to(vertex, best);
    for (const Edge edge : graph.edges(vertex)) {
      const std::uint32_t to = part_of[edge.to];
      if (to == best || !fits(to)) continue;
      if (const double weight = weight_to(vertex, to); weight > most) {
        best = to;
        most = weight;
      }
    }
    held[part_of[vertex]] -= graph.size(vertex);
    held[best] += graph.size(vertex);
    part_of[vertex] = best;
  }
  return !leavers.empty();
}

/// Cut in two until every part has its share. `first` is the number of the first part.
void cut_apart(const Subgraph& share, Rooms room, std::uint32_t first, const DivisionEffort& effort, std::uint64_t seed,
               std::span<std::uint32_t> part_of) {
  if (room.size() == 1 || share.original.empty()) {
    for (const std::uint32_t vertex : share.original) part_of[vertex] = first;
    return;
  }
  if (effort.deadline.passed()) return fill(share, room, first, part_of);
  const auto left = room.first(room.size() / 2);
  const auto right = room.subspan(room.size() / 2);
  const Bisection cut = bisect(share.graph, rooms_of(left, right, share.graph), effort.cut, seed);
  auto both = halves(share.graph, cut.side_of);
  for (Subgraph* const half : {&both.first, &both.second}) {
    for (std::uint32_t& vertex : half->original) vertex = share.original[vertex];
  }
  cut_apart(both.first, left, first, effort, mix(seed + 1), part_of);
  cut_apart(both.second, right, first + static_cast<std::uint32_t>(left.size()), effort, mix(seed + 2), part_of);
}

class Divider {
 public:
  Divider(Rooms room, const DivisionEffort& effort) : room_(room), effort_(effort) {}

  Division divide(const WeightedGraph& graph, std::uint64_t seed) const {
    std::vector<Level> levels;
    const auto coarsest = [&]() -> const WeightedGraph& { return levels.empty() ? graph : levels.back().graph; };
    const std::uint64_t enough = std::uint64_t{effort_.vertices_a_part} * room_.size();
    const std::uint64_t largest = std::max<std::uint64_t>(1, graph.total_size() * 3 / (2 * enough));
    while (coarsest().vertex_count() > enough) {
      auto step = matched(coarsest(), largest, mix(seed + levels.size()));
      if (step.coarse_count * std::uint64_t{20} > coarsest().vertex_count() * std::uint64_t{19}) break;
      auto next = contracted(coarsest(), step.coarse_of, step.coarse_count);
      levels.push_back({std::move(next), std::move(step.coarse_of)});
    }
    Division best = first_division(coarsest(), seed);
    for (std::size_t level = levels.size(); level-- > 0;) {
      const WeightedGraph& finer = level == 0 ? graph : levels[level - 1].graph;
      std::vector<std::uint32_t> fine(finer.vertex_count());
      for (std::uint32_t vertex = 0; vertex < finer.vertex_count(); ++vertex) {
        fine[vertex] = best.part_of[levels[level].coarse_of[vertex]];
      }
      best.part_of = std::move(fine);
      improve(finer, best);
    }
    if (relieve(graph, room_, best.part_of)) improve(graph, best);
    return best;
  }

 private:
  /// The best of several tries.
  Division first_division(const WeightedGraph& graph, std::uint64_t seed) const {
    std::vector<Division> tries(effort_.deadline.passed() ? 1 : effort_.tries);
    parallel_chunks(tries.size(), 1, [&](std::size_t at, std::size_t) { tries[at] = cut_up(graph, mix(seed) + at); });
    const auto better = [](const Division& a, const Division& b) { return a.cut < b.cut; };
    return std::move(*std::min_element(tries.begin(), tries.end(), better));
  }

  Division cut_up(const WeightedGraph& graph, std::uint64_t seed) const {
    Subgraph whole{graph, std::vector<std::uint32_t>(graph.vertex_count())};
    std::iota(whole.original.begin(), whole.original.end(), 0U);
    Division result{std::vector<std::uint32_t>(graph.vertex_count()), 0};
    cut_apart(whole, room_, 0, effort_, seed, result.part_of);
    improve(graph, result);
    return result;
  }

  void improve(const WeightedGraph& graph, Division& division) const {
    if (effort_.deadline.passed()) {
      division.cut = std::numeric_limits<double>::infinity();
      return;
    }
    division.cut = improve_cut(graph, room_, division.part_of, effort_.passes);
    if (effort_.flows == 0 || graph.total_size() == total(room_)) return;
    division.cut -= improve_borders(graph, room_, division.part_of, effort_.flows);
  }

  Rooms room_;
  const DivisionEffort& effort_;
};

}  // namespace

Division divided(const WeightedGraph& graph, Rooms room, const DivisionEffort& effort, std::uint64_t seed) {
  return Divider(room, effort).divide(graph, seed);
}

}  // namespace rankloom::multilevel
