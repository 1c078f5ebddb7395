// SPDX-License-Identifier: Apache-2.0
// model/graph: the steps that a collective operation consists of under each collective model. docs/patterns.md has the
// tables.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/graph/collective_shapes.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// One step of a collective: `blocks` times its bytes in `messages` messages between each pair of the pattern.
struct CollectiveStep {
  collective_shapes::Shape shape;
  double blocks = 1;
  double messages = 1;
};
using CollectiveSteps = std::vector<CollectiveStep>;

/// The steps of one call with this number of bytes on a communicator of this size, as if all members shared a node. The
/// model is not `automatic`.
CollectiveSteps collective_steps(CollectiveOp op, CollectiveModel model, std::uint32_t size, double bytes);

/// The same for the MPI libraries, by their algorithms for communicators of at least two members.
CollectiveSteps openmpi_steps(CollectiveOp op, std::uint32_t size, double bytes);
CollectiveSteps mpich_steps(CollectiveOp op, std::uint32_t size, double bytes);

/// Whether the library of the model uses a two-level algorithm for this call if the members are on several nodes:
/// inside the nodes, and between one leader per node.
bool is_two_level(CollectiveOp op, CollectiveModel model, std::uint32_t size, double bytes);

}  // namespace rankloom
