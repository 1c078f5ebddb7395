// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: tries row-major numbering first, then an embedding of the graph in any numbering.
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/structure/recognition/grid_search.hpp"

namespace rankloom {
namespace {

/// A larger variation of the bytes within a direction hints at another numbering of the ranks: on an axis of two cells,
/// or of three periodic ones, every cell is adjacent to every other, so any numbering fits the edges.
constexpr double max_row_major_variation = 0.3;

template <class Id>
std::optional<Grid> recognise(const AdjacencyView<Id>& adjacency) {
  auto row_major = row_major_grid(adjacency);
  if (row_major && row_major->variation < max_row_major_variation) return row_major;
  auto embedded = embed_grid(adjacency);
  if (row_major && embedded) return embedded->variation < row_major->variation ? embedded : row_major;
  return row_major ? row_major : embedded;
}

}  // namespace

std::optional<Grid> recognise_grid(const Affinity& affinity) {
  auto grid = recognise(adjacency_of(affinity));
  // An affinity matrix has the bytes of both directions in both rows of a pair.
  if (grid) std::ranges::for_each(grid->directions, [](Grid::Direction& direction) { direction.bytes /= 2; });
  return grid;
}

std::optional<Grid> recognise_grid(const CommGraph& graph) {
  const TimedSection timing("grid recognition");
  return recognise(adjacency_of(graph));
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
      const std::pair traffic(bytes[edge], messages.empty() ? 0 : messages[edge]);
      if (!each) each = traffic;
      if (traffic != *each) return false;
      ++others;
    }
    if (others != ranks - 1) return false;
  }
  return true;
}

}  // namespace rankloom
