// SPDX-License-Identifier: Apache-2.0
// map: the transposed communication graph: the incoming edges of each rank.
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Edges are in ascending order of their sources. 24 bytes per edge.
class ReverseAdjacency {
 public:
  struct Entry {
    Rank from;
    double bytes, messages;
  };

  explicit ReverseAdjacency(const CommGraph& graph)
      : offsets_(graph.rank_count() + std::size_t{1}, 0), entries_(graph.edge_count()) {
    for (const Rank rank : graph.ranks()) {
      for (const Rank target : graph.targets(rank)) ++offsets_[index(target) + 1];
    }
    for (std::size_t at = 1; at < offsets_.size(); ++at) offsets_[at] += offsets_[at - 1];
    std::vector<EdgeIndex> next(offsets_.begin(), offsets_.end() - 1);
    for (const Rank rank : graph.ranks()) {
      const auto messages = graph.messages(rank);
      for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
        entries_[next[index(graph.targets(rank)[edge])]++] = {
            rank, graph.bytes(rank)[edge], messages.empty() ? graph.default_messages() : messages[edge]};
      }
    }
  }

  std::span<const Entry> operator[](Rank rank) const {
    return {entries_.data() + offsets_[index(rank)], offsets_[index(rank) + 1] - offsets_[index(rank)]};
  }

 private:
  std::vector<EdgeIndex> offsets_;
  std::vector<Entry> entries_;
};

}  // namespace rankloom
