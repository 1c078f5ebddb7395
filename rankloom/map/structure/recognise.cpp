// SPDX-License-Identifier: Apache-2.0
// map/structure: guesses, and keeps what stands up to a check.
#include <algorithm>

#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/survey.hpp"
#include "rankloom/map/structure/unfold.hpp"

namespace rankloom {
namespace {

template <class Id>
std::optional<Grid> recognised(const Links<Id>& links) {
  if (auto guess = grid_in_order(links)) {
    if (auto grid = confirmed(links, *std::move(guess))) return grid;
  }
  if (auto guess = unfolded_grid(links)) return confirmed(links, *std::move(guess));
  return {};
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
