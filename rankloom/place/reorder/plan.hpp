// SPDX-License-Identifier: Apache-2.0
// place/reorder: which process gets which rank of a virtual topology. Computed once, for all processes, by the
// default mapper; the library inside the program asks for it and carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/place/reorder/seats.hpp"

namespace rankloom::reorder {

struct Question {
  std::vector<Seat> seats;  ///< By process: its rank in the communicator that is given.
  std::vector<NodeInterior> interiors;
  std::string machine;  ///< RANKLOOM_TOPOLOGY; empty: none.
  CommGraph graph;      ///< Of the vertices; at most as many as processes.
};

/// What a placement of the vertices costs: the sum of weight × distance, and the weight of what leaves a host.
struct Toll {
  double cost = 0;
  double between_hosts = 0;
};

struct Plan {
  /// By process: its rank in the new communicator, which is the vertex that it plays; those that are left out come
  /// behind. The given order when no better one was found.
  std::vector<std::int32_t> new_rank;
  bool changed = false;
  Toll before, after;
};

/// Never costs more than the given order.
Result<Plan> make_plan(const Question& question);

/// Neighbours in a Cartesian grid, last dimension fastest as MPI numbers it; each edge weighs 1.
CommGraph grid_graph(const std::vector<std::int32_t>& dims, const std::vector<std::int32_t>& periods);

}  // namespace rankloom::reorder
