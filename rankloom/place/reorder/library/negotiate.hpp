// SPDX-License-Identifier: Apache-2.0
// place/reorder: all processes of a communicator agree on new ranks. The root gathers the bindings and the edges of the
// virtual topology, has them mapped by the helper process, and sends each process its new rank. Every other process
// needs memory only for its own neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/place/reorder/library/pmpi_functions.hpp"
#include "rankloom/place/reorder/message_format.hpp"

namespace rankloom::reorder {

/// The part of a virtual topology that one process knows.
struct ReorderRequest {
  const char* function = "";  ///< The MPI function, for the message of RANKLOOM_REORDER_VERBOSE.
  bool is_valid = false;      ///< False: MPI itself reports the invalid arguments.
  TopologyKind kind = TopologyKind::edges;
  std::vector<std::int32_t> dims, periods;  ///< Of a grid; equal on all processes.
  std::int32_t vertices = 0;
  std::vector<std::int32_t> edges;  ///< Triples (from, to, weight). Each process has some of them, or the root has all.
  bool scatters_edges = false;  ///< Every process receives the edges of its vertex, whichever process specified them.
};

enum class Decision : std::uint8_t {
  delegate,  ///< MPI creates the topology with the original arguments.
  keep,      ///< The given order is kept, because no better one was found.
  reorder,
};

/// The edges of one vertex.
struct Neighbours {
  std::vector<std::int32_t> sources, in_weights, targets, out_weights;
};

struct NegotiationResult {
  Decision decision = Decision::delegate;
  std::int32_t new_rank = 0;
  std::int32_t neighbour_source = 0;  ///< The new rank of the process whose old rank equals my new rank.
  Neighbours neighbours;              ///< If ReorderRequest::scatters_edges.
};

/// RANKLOOM_REORDER_VERBOSE is set.
bool is_verbose();

/// A collective operation with the same decision on all processes. It uses no point-to-point messages, which a receive
/// of the program could match.
NegotiationResult negotiate(MPI_Comm comm, int rank, int size, const ReorderRequest& request) noexcept;

}  // namespace rankloom::reorder
