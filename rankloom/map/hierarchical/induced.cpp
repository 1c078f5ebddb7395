// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: what some of the ranks say to each other.
#include "rankloom/map/hierarchical/induced.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rankloom {
namespace {

constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();

}  // namespace

InducedGraphs::InducedGraphs(const CommGraph& graph) : graph_(&graph), name_(graph.rank_count(), outside) {}

CommGraph InducedGraphs::of(std::span<const Rank> ranks) {
  for (std::uint32_t at = 0; at < ranks.size(); ++at) name_[index(ranks[at])] = at;
  CommGraph::Rows rows{
      .offsets = {0}, .targets = {}, .bytes = {}, .messages = {}, .loads = {}, .undirected = graph_->undirected()};
  std::vector<std::pair<std::uint32_t, std::size_t>> row;  // new name of the target, place in the old row
  for (const Rank rank : ranks) {
    const auto targets = graph_->targets(rank);
    row.clear();
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (name_[index(targets[edge])] != outside) row.emplace_back(name_[index(targets[edge])], edge);
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
  for (const Rank rank : ranks) name_[index(rank)] = outside;
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
