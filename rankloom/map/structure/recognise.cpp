// SPDX-License-Identifier: Apache-2.0
// map/structure: the order of the ranks first, then the graph alone.
#include <algorithm>
#include <utility>

#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/unfold.hpp"

namespace rankloom {
namespace {

/// Bytes that stray further from the mean of their direction hint at another order of the ranks: where a side has two
/// cells, or three that wrap, everyone on it talks to everyone, in any order.
constexpr double suspicious_spread = 0.3;

template <class Id>
std::optional<Grid> recognised(const Links<Id>& links) {
  auto in_order = grid_in_order(links);
  if (in_order && in_order->spread < suspicious_spread) return in_order;
  auto unfolded = unfolded_grid(links);
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
  std::optional<std::pair<double, double>> each;  // bytes and messages
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    const auto messages = graph.messages(rank);
    std::uint64_t others = 0;
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (targets[edge] == rank) continue;
      const std::pair talk(bytes[edge], messages.empty() ? 0 : messages[edge]);
      if (!each) each = talk;
      if (talk != *each) return false;
      ++others;
    }
    if (others != ranks - 1) return false;
  }
  return true;
}

}  // namespace rankloom
