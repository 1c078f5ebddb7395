// SPDX-License-Identifier: Apache-2.0
// model/graph: the steps of collective operations under the models that do not depend on an MPI library.
#include "rankloom/model/graph/collective_steps.hpp"

namespace rankloom {

namespace {

using collective_shapes::Shape;

CollectiveSteps logical_steps(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::barrier:
      return {};  // no data moves
    case CollectiveOp::bcast:
    case CollectiveOp::scatter:
      return {{Shape::star_out}};
    case CollectiveOp::reduce:
    case CollectiveOp::gather:
      return {{Shape::star_in}};
    case CollectiveOp::scan:
      return {{Shape::to_later_members}};
    case CollectiveOp::allreduce:
    case CollectiveOp::allgather:
    case CollectiveOp::alltoall:
    case CollectiveOp::reduce_scatter:
      return {{Shape::all_pairs}};
  }
  return {};
}

/// More members reduce and scatter along a ring, one of the algorithms of NCCL and Open MPI. Each of them sends as many
/// blocks as in a pairwise exchange, but to one other member, so that the graph stays sparse.
constexpr double max_members_of_pairwise_reduction = 16;

CollectiveSteps tree_steps(CollectiveOp op, double size) {
  switch (op) {
    case CollectiveOp::barrier:
      return {{Shape::dissemination, 0}};
    case CollectiveOp::bcast:
      return {{Shape::binomial_down}};
    case CollectiveOp::reduce:
      return {{Shape::binomial_up}};
    case CollectiveOp::gather:
      return {{Shape::gather_up}};
    case CollectiveOp::scatter:
      return {{Shape::scatter_down}};
    case CollectiveOp::allreduce:
      return {{Shape::doubling}};
    case CollectiveOp::allgather:
      return {{Shape::ring, size - 1, size - 1}};
    case CollectiveOp::alltoall:
      return {{Shape::all_pairs}};
    case CollectiveOp::reduce_scatter:
      if (size > max_members_of_pairwise_reduction) return {{Shape::ring, size - 1, size - 1}};
      return {{Shape::all_pairs}};
    case CollectiveOp::scan:
      return {{Shape::partial_doubling}};
  }
  return {};
}

CollectiveSteps flat_steps(CollectiveOp op, double size) {
  switch (op) {
    case CollectiveOp::barrier:
      return {{Shape::star_in, 0}, {Shape::star_out, 0}};
    case CollectiveOp::bcast:
    case CollectiveOp::scatter:
      return {{Shape::star_out}};
    case CollectiveOp::reduce:
    case CollectiveOp::gather:
      return {{Shape::star_in}};
    case CollectiveOp::allreduce:
    case CollectiveOp::scan:
      return {{Shape::star_in}, {Shape::star_out}};
    case CollectiveOp::allgather:
      return {{Shape::star_in}, {Shape::star_out, size}};
    case CollectiveOp::alltoall:
      return {{Shape::star_in, size - 1}, {Shape::star_out, size - 1}};
    case CollectiveOp::reduce_scatter:
      return {{Shape::star_in, size}, {Shape::star_out}};
  }
  return {};
}

}  // namespace

CollectiveSteps collective_steps(CollectiveOp op, CollectiveModel model, std::uint32_t size, double bytes) {
  switch (model) {
    case CollectiveModel::none:
      return {};
    case CollectiveModel::logical:
      return logical_steps(op);
    case CollectiveModel::flat:
      return flat_steps(op, size);
    case CollectiveModel::openmpi:
    case CollectiveModel::openmpi5:
      return openmpi_steps(op, size, bytes);
    case CollectiveModel::mpich:
      return mpich_steps(op, size, bytes);
    case CollectiveModel::tree:
    case CollectiveModel::automatic:
      break;
  }
  return tree_steps(op, size);
}

}  // namespace rankloom
