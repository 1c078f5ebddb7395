// SPDX-License-Identifier: Apache-2.0
// map/structure: guesses, and keeps what stands up to a check.
#include <algorithm>

#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/survey.hpp"
#include "rankloom/map/structure/unfold.hpp"

namespace rankloom {
namespace {

/// Bytes that stray further from the mean of their direction hint at another order of the ranks: where a side has two
/// cells, or three that wrap, everyone on it talks to everyone, in any order.
constexpr double suspicious_spread = 0.3;

template <class Id>
std::optional<Grid> recognised(const Links<Id>& links) {
  std::optional<Grid> in_order;
  if (auto guess = grid_in_order(links)) in_order = confirmed(links, *std::move(guess));
  if (in_order && in_order->spread < suspicious_spread) return in_order;
  std::optional<Grid> unfolded;
  if (auto guess = unfolded_grid(links)) unfolded = confirmed(links, *std::move(guess));
  if (in_order && unfolded) return unfolded->spread < in_order->spread ? unfolded : in_order;
  return in_order ? in_order : unfolded;
}

}  // namespace

std::optional<Grid> recognised_grid(const Affinity& affinity) {
  auto grid = recognised(links_of(affinity));
  // Both rows of a pair hold all of its bytes.
  if (grid) std::ranges::for_each(grid->directions, [](Grid::Direction& direction) { direction.bytes /= 2; });
  return grid;
}

std::optional<Grid> recognised_grid(const CommGraph& graph) {
  return recognised(links_of(graph));
}

bool is_uniform_all_to_all(const CommGraph& graph) {
  const std::uint64_t ranks = graph.rank_count();
  if (ranks < 2 || graph.edge_count() < ranks * (ranks - 1)) return false;
  double each = 0;
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    std::uint64_t others = 0;
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (targets[edge] == rank) continue;
      if (each == 0) each = bytes[edge];
      if (bytes[edge] != each || each == 0) return false;
      ++others;
    }
    if (others != ranks - 1) return false;
  }
  return true;
}

}  // namespace rankloom
