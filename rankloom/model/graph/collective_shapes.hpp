// SPDX-License-Identifier: Apache-2.0
// model/graph: the communication patterns of collective operations, enumerated per member, and the patterns that each
// operation consists of under each collective model. docs/patterns.md has the table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "rankloom/model/graph/profile.hpp"

namespace rankloom::collective_shapes {

/// The communication pattern within a group of n members, which are numbered from 0.
enum class Shape : std::uint8_t {
  star_out,          ///< Root to every other member.
  star_in,           ///< Every other member to the root.
  all_pairs,         ///< Every ordered pair.
  to_later_members,  ///< Every member to all later members.
  binomial_down,     ///< Along a binomial tree, the same vector on each edge.
  binomial_up,       ///< The same towards the root.
  scatter_down,      ///< Along a binomial tree, one block per member of the subtree.
  gather_up,         ///< The same towards the root.
  doubling,  ///< Recursive doubling; members above a power of two send their data first and receive the result last.
  ring,      ///< To the next member.
  partial_doubling,  ///< Recursive doubling among existing members, as in a scan.
  dissemination,     ///< To the members at distance 1, 2, 4, ….
};

constexpr std::uint64_t lowest_bit(std::uint64_t value) {
  return value & (~value + 1);
}

/// The size of a subtree: in a binomial tree over 0..size-1 the subtree of v > 0 is v..v+lowest_bit(v)-1, cut off at
/// size.
constexpr std::uint64_t subtree(std::uint64_t v, std::uint64_t size) {
  return std::min(lowest_bit(v), size - v);
}

/// Calls emit(child, size of its subtree) for the children of v.
template <class Emit>
void binomial_children(std::uint64_t v, std::uint64_t size, const Emit& emit) {
  const std::uint64_t end = v == 0 ? size : lowest_bit(v);
  for (std::uint64_t bit = 1; bit < end && v + bit < size; bit *= 2) emit(v + bit, subtree(v + bit, size));
}

template <class Emit>
void doubling_sends(std::uint64_t p, std::uint64_t size, const Emit& emit) {
  const std::uint64_t power = std::bit_floor(size);
  const std::uint64_t folded =
      size - power;  // pairs (0,1), (2,3), …, of which the even member does not take part in the doubling
  const auto position = [&](std::uint64_t v) { return v < folded ? 2 * v + 1 : v + folded; };
  if (p < 2 * folded) {
    if (p % 2 == 0) return emit(p + 1, 1);
    emit(p - 1, 1);
  }
  const std::uint64_t v = p < 2 * folded ? p / 2 : p - folded;
  for (std::uint64_t bit = 1; bit < power; bit *= 2) emit(position(v ^ bit), 1);
}

/// Calls emit(to, blocks) for every member that member p sends to.
template <class Emit>
void sends(Shape shape, std::uint64_t size, std::uint64_t root, std::uint64_t p, const Emit& emit) {
  const std::uint64_t from_root = (p + size - root) % size;  // binomial trees number members from the root
  const auto position = [&](std::uint64_t v) { return (v + root) % size; };
  switch (shape) {
    case Shape::star_in:
      if (p != root) emit(root, 1);
      return;
    case Shape::star_out:
      if (p != root) return;
      [[fallthrough]];
    case Shape::all_pairs:
      for (std::uint64_t q = 0; q < p; ++q) emit(q, 1);
      [[fallthrough]];
    case Shape::to_later_members:
      for (std::uint64_t q = p + 1; q < size; ++q) emit(q, 1);
      return;
    case Shape::binomial_down:
      return binomial_children(from_root, size, [&](std::uint64_t v, std::uint64_t) { emit(position(v), 1); });
    case Shape::scatter_down:
      return binomial_children(from_root, size,
                               [&](std::uint64_t v, std::uint64_t below) { emit(position(v), below); });
    case Shape::binomial_up:
      if (p != root) emit(position(from_root - lowest_bit(from_root)), 1);
      return;
    case Shape::gather_up:
      if (p != root) emit(position(from_root - lowest_bit(from_root)), subtree(from_root, size));
      return;
    case Shape::doubling:
      return doubling_sends(p, size, emit);
    case Shape::ring:
      if (size > 1) emit((p + 1) % size, 1);
      return;
    case Shape::partial_doubling:
      for (std::uint64_t bit = 1; bit < size; bit *= 2)
        if ((p ^ bit) < size) emit(p ^ bit, 1);
      return;
    case Shape::dissemination:
      for (std::uint64_t bit = 1; bit < size; bit *= 2) emit((p + bit) % size, 1);
      return;
  }
}

/// One step of a collective: `blocks` times its bytes in `messages` messages between each pair of the pattern.
struct Step {
  Shape shape;
  double blocks = 1;
  double messages = 1;
};

using Steps = std::vector<Step>;

inline Steps logical_steps(CollectiveOp op) {
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

inline Steps tree_steps(CollectiveOp op, double size) {
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
    case CollectiveOp::reduce_scatter:
      return {{Shape::all_pairs}};
    case CollectiveOp::scan:
      return {{Shape::partial_doubling}};
  }
  return {};
}

inline Steps flat_steps(CollectiveOp op, double size) {
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

inline Steps steps_of(CollectiveOp op, CollectiveModel model, std::uint32_t size) {
  switch (model) {
    case CollectiveModel::none:
      return {};
    case CollectiveModel::logical:
      return logical_steps(op);
    case CollectiveModel::tree:
      return tree_steps(op, size);
    case CollectiveModel::flat:
      return flat_steps(op, size);
  }
  return {};
}

}  // namespace rankloom::collective_shapes
