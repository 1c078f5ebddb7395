// SPDX-License-Identifier: Apache-2.0
// model/graph: MPI collective operations. Files contain these numbers, so they must not change.
#pragma once

#include <cstdint>

namespace rankloom {

enum class CollectiveOp : std::uint8_t {
  barrier,
  bcast,
  reduce,
  gather,
  scatter,
  allreduce,
  allgather,
  alltoall,
  reduce_scatter,
  scan,
};

}  // namespace rankloom
