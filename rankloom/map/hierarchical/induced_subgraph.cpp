// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: the subgraph that a set of ranks induces.
#include "rankloom/map/hierarchical/induced_subgraph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rankloom {
namespace {

constexpr std::uint32_t not_selected = std::numeric_limits<std::uint32_t>::max();

}  // namespace

InducedSubgraphs::InducedSubgraphs(const CommGraph& graph)
    : graph_(&graph), new_rank_(graph.rank_count(), not_selected) {}

CommGraph InducedSubgraphs::extract(std::span<const Rank> ranks) {
  for (std::uint32_t at = 0; at < ranks.size(); ++at) new_rank_[index(ranks[at])] = at;
  CommGraph::Rows rows{
      .offsets = {0}, .targets = {}, .bytes = {}, .messages = {}, .loads = {}, .undirected = graph_->undirected()};
  std::vector<std::pair<std::uint32_t, std::size_t>> row;  // target in the subgraph, index in the old row
  for (const Rank rank : ranks) {
    const auto targets = graph_->targets(rank);
    row.clear();
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (new_rank_[index(targets[edge])] != not_selected) row.emplace_back(new_rank_[index(targets[edge])], edge);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [target, edge] : row) {
      rows.targets.push_back(Rank{target});
      rows.bytes.push_back(graph_->bytes(rank)[edge]);
      if (graph_->has_messages()) rows.messages.push_back(graph_->messages(rank)[edge]);
    }
    rows.offsets.push_back(rows.targets.size());
    if (!graph_->loads().empty()) rows.loads.push_back(graph_->load(rank));
  }
  for (const Rank rank : ranks) new_rank_[index(rank)] = not_selected;
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
