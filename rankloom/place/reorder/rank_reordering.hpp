// SPDX-License-Identifier: Apache-2.0
// place/reorder: computes which process gets which rank of a virtual topology. The helper process computes it once for
// all processes by the default mapper; the reorder library inside the program applies it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/place/reorder/message_format.hpp"
#include "rankloom/place/reorder/process_bindings.hpp"

namespace rankloom::reorder {

struct ReorderProblem {
  std::vector<ProcessBinding> bindings;  ///< By rank in the given communicator.
  std::vector<NodeInterior> interiors;
  std::string machine;  ///< The value of RANKLOOM_TOPOLOGY; empty: none.
  CommGraph graph;      ///< The virtual topology; it has at most as many vertices as there are processes.
};

struct Reordering {
  /// By old rank: the rank in the new communicator, which is the vertex of the process. Processes without a vertex get
  /// the last ranks. The identity if no better order was found.
  std::vector<std::int32_t> new_rank;
  bool changed = false;
  PlacementCost before, after;
};

/// The result never costs more than the given order.
Result<Reordering> compute_reordering(const ReorderProblem& problem);

/// The neighbours in a Cartesian grid in row-major order, as MPI numbers it. Every edge has the weight 1.
CommGraph grid_graph(const std::vector<std::int32_t>& dims, const std::vector<std::int32_t>& periods);

}  // namespace rankloom::reorder
