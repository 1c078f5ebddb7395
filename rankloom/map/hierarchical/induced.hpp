// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: what some of the ranks say to each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// Cuts graphs of some ranks out of a large one, in time that depends on them and their edges alone. 4 bytes a rank.
class InducedGraphs {
 public:
  /// The graph must outlive it.
  explicit InducedGraphs(const CommGraph& graph);

  /// Rank i of the result is ranks[i]; each is named once. Messages and loads come along.
  CommGraph of(std::span<const Rank> ranks);

 private:
  const CommGraph* graph_;
  std::vector<std::uint32_t> name_;  // by rank; between two calls nobody has one
};

}  // namespace rankloom
