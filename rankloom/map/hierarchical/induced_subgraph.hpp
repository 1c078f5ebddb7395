// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: the subgraph that a set of ranks induces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Extracts induced subgraphs of a large graph in time proportional to the subgraph. 4 bytes per rank of the graph.
class InducedSubgraphs {
 public:
  /// The graph must outlive the object.
  explicit InducedSubgraphs(const CommGraph& graph);

  /// Rank i of the result is ranks[i]; the ranks are distinct. Messages and loads are kept.
  CommGraph extract(std::span<const Rank> ranks);

 private:
  const CommGraph* graph_;
  std::vector<std::uint32_t> new_rank_;  // by rank of the graph; not_selected between two calls
};

}  // namespace rankloom
