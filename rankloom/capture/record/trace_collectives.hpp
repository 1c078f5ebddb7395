// SPDX-License-Identifier: Apache-2.0
// capture/record: collectives in the trace. The format knows those of all ranks; those of other communicators are
// written as the messages that a plain algorithm would send.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "rankloom/capture/record/mpi.hpp"
#include "rankloom/model/collective_op.hpp"

namespace rankloom::record {

/// Bytes for each member of a communicator.
class Amounts {
 public:
  explicit Amounts(int count)
      : values_(static_cast<std::uint64_t*>(std::calloc(static_cast<std::size_t>(count) + 1, sizeof(std::uint64_t)))) {}
  ~Amounts() { std::free(values_); }
  Amounts(const Amounts&) = delete;
  Amounts& operator=(const Amounts&) = delete;
  /// nullptr: there is no memory.
  std::uint64_t* get() const { return values_; }

 private:
  std::uint64_t* values_;
};

/// With equal blocks.
void trace_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes);
/// Blocks of different sizes; empty ones are no messages. What only the root knows is not looked at elsewhere.
void trace_gatherv(MPI_Comm comm, int root, std::uint64_t own, const std::uint64_t* received);
void trace_scatterv(MPI_Comm comm, int root, std::uint64_t own, const std::uint64_t* sent);
void trace_allgatherv(MPI_Comm comm, const std::uint64_t* received);
void trace_alltoallv(MPI_Comm comm, const std::uint64_t* sent, const std::uint64_t* received);
void trace_reduce_scatter(MPI_Comm comm, const std::uint64_t* received);
/// To each neighbour that this process sends to.
void trace_to_neighbours(MPI_Comm comm, const std::uint64_t* sent);
void trace_one_sided();

}  // namespace rankloom::record
