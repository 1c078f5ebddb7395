// SPDX-License-Identifier: Apache-2.0
// model: the operations in which a whole communicator takes part. Their numbers are written into files.
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
