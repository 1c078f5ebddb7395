// SPDX-License-Identifier: Apache-2.0
// place/reorder: all processes of a communicator find out which rank each gets. One of them collects who sits where and
// who talks to whom, has it mapped, and tells every other its own rank alone: O(own neighbours) for all but that one.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/place/reorder/library/mpi.hpp"
#include "rankloom/place/reorder/wire.hpp"

namespace rankloom::reorder {

/// A virtual topology as one process knows it.
struct Wish {
  const char* call = "";  ///< For the line that RANKLOOM_REORDER_VERBOSE prints.
  bool is_valid = false;  ///< What MPI would refuse, it shall refuse itself.
  Shape shape = Shape::edges;
  std::vector<std::int32_t> dims, periods;  ///< Of a grid: the same on all processes.
  std::int32_t vertices = 0;
  std::vector<std::int32_t> edges;  ///< from, to, weight; every process has some of them, or the first has all.
  bool deals_edges = false;         ///< Every process is to get the edges of its vertex, whoever told them.
};

enum class Decision : std::uint8_t {
  leave,  ///< To MPI, with the arguments as they are.
  keep,   ///< The given order is as good as any that was found.
  change,
};

/// The edges of one vertex; each list has an entry for every edge.
struct Neighbours {
  std::vector<std::int32_t> sources, in_weights, targets, out_weights;
};

struct Verdict {
  Decision decision = Decision::leave;
  std::int32_t new_rank = 0;
  std::int32_t holder = 0;  ///< The new rank of the process whose old rank is my new one.
  Neighbours neighbours;    ///< When edges are dealt.
};

/// Collective; the decision is the same everywhere. Uses no point-to-point message, so that no receive of the program
/// can meet one.
Verdict consult(MPI_Comm comm, int rank, int size, const Wish& wish) noexcept;

}  // namespace rankloom::reorder
