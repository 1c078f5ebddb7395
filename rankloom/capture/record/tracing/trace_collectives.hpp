// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: collectives in the trace. The format contains collectives of all ranks only; collectives of
// other communicators are written as the point-to-point messages of a textbook algorithm.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "rankloom/capture/record/pmpi/pmpi.hpp"
#include "rankloom/model/graph/collective_op.hpp"

namespace rankloom::record {

/// A byte count for each member of a communicator.
class ByteCounts {
 public:
  explicit ByteCounts(int count)
      : values_(static_cast<std::uint64_t*>(std::calloc(static_cast<std::size_t>(count) + 1, sizeof(std::uint64_t)))) {}
  ~ByteCounts() { std::free(values_); }
  ByteCounts(const ByteCounts&) = delete;
  ByteCounts& operator=(const ByteCounts&) = delete;
  /// nullptr: no memory.
  std::uint64_t* get() const { return values_; }

 private:
  std::uint64_t* values_;
};

/// A collective with equal blocks.
void trace_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes);
// Collectives with blocks of different sizes; an empty block is not a message. Arrays that are significant only at the
// root are not read at other ranks.
void trace_gatherv(MPI_Comm comm, int root, std::uint64_t bytes, const std::uint64_t* received);
void trace_scatterv(MPI_Comm comm, int root, std::uint64_t bytes, const std::uint64_t* sent);
void trace_allgatherv(MPI_Comm comm, const std::uint64_t* received);
void trace_alltoallv(MPI_Comm comm, const std::uint64_t* sent, const std::uint64_t* received);
void trace_reduce_scatter(MPI_Comm comm, const std::uint64_t* received);
/// Neighbourhood collectives, with the bytes for each destination.
void trace_neighbor_alltoallv(MPI_Comm comm, const std::uint64_t* sent);
void trace_one_sided();

}  // namespace rankloom::record
