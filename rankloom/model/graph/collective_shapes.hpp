// SPDX-License-Identifier: Apache-2.0
// model/graph: the communication patterns of collective operations, enumerated per member. Which patterns an operation
// consists of says collective_steps.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

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
  // Of n members, p is the largest power of two that is not above n.
  fold_in,            ///< The n - p members that do not take part in the next steps send to their partners.
  fold_out,           ///< The reverse.
  halving,            ///< Recursive halving: p/(2d) blocks with the member at distance d, for d = 1, 2, 4, …, p/2.
  halving_gather,     ///< To the root, the blocks that `halving` leaves with each member.
  block_doubling,     ///< Recursive doubling of blocks: d blocks with the member at distance d.
  bruck,              ///< Bruck's allgather: d blocks, at most n - d, to the member at distance -d.
  bruck_alltoall,     ///< To the member at distance d, the blocks whose number contains the bit d.
  neighbours,         ///< To the next and to the previous member.
  chain,              ///< From the root to the next member, and so on.
  chain_up,           ///< The same towards the root.
  binary_down,        ///< Along a binary tree, the same vector on each edge.
  binary_up,          ///< The same towards the root.
  quaternomial_down,  ///< Along a k-nomial tree with k = 4.
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

/// The members that take part in recursive halving: of the first 2(n - p) members every other one, and all others.
class Folding {
 public:
  explicit Folding(std::uint64_t size) : power_(std::bit_floor(size)), folded_(size - power_) {}
  std::uint64_t power() const { return power_; }
  bool is_folded(std::uint64_t p) const { return p < 2 * folded_ && p % 2 == 1; }
  bool has_partner(std::uint64_t p) const { return p < 2 * folded_ && p % 2 == 0; }
  /// Number among the members that take part, and back.
  std::uint64_t number(std::uint64_t p) const { return p < 2 * folded_ ? p / 2 : p - folded_; }
  std::uint64_t member(std::uint64_t number) const { return number < folded_ ? 2 * number : number + folded_; }

 private:
  std::uint64_t power_, folded_;
};

enum class Tree : std::uint8_t { binomial, binary, quaternomial, chain, halving };

/// A pattern along a tree from the root, or towards it.
struct TreeShape {
  Tree tree;
  bool up;
  bool blocks;  ///< One block per member of the subtree, not the same vector on each edge.
};

constexpr std::optional<TreeShape> tree_shape(Shape shape) {
  switch (shape) {
    case Shape::binomial_down:
      return TreeShape{Tree::binomial, false, false};
    case Shape::binomial_up:
      return TreeShape{Tree::binomial, true, false};
    case Shape::scatter_down:
      return TreeShape{Tree::binomial, false, true};
    case Shape::gather_up:
      return TreeShape{Tree::binomial, true, true};
    case Shape::chain:
      return TreeShape{Tree::chain, false, false};
    case Shape::chain_up:
      return TreeShape{Tree::chain, true, false};
    case Shape::binary_down:
      return TreeShape{Tree::binary, false, false};
    case Shape::binary_up:
      return TreeShape{Tree::binary, true, false};
    case Shape::quaternomial_down:
      return TreeShape{Tree::quaternomial, false, false};
    case Shape::halving_gather:
      return TreeShape{Tree::halving, true, true};
    default:
      return std::nullopt;
  }
}

/// Calls emit(child, blocks below) for the children of member v, counted from the root.
template <class Emit>
void for_each_child(Tree tree, std::uint64_t v, std::uint64_t size, const Emit& emit) {
  switch (tree) {
    case Tree::binomial:
      return binomial_children(v, size, emit);
    case Tree::binary:
      for (std::uint64_t child = 2 * v + 1; child <= 2 * v + 2 && child < size; ++child) emit(child, 1);
      return;
    case Tree::quaternomial:
      for (std::uint64_t digit = 1; digit < size && v / digit % 4 == 0; digit *= 4)
        for (std::uint64_t child = v + digit; child < v + 4 * digit && child < size; child += digit) emit(child, 1);
      return;
    case Tree::chain:
      if (v + 1 < size) emit(v + 1, 1);
      return;
    case Tree::halving: {
      const Folding folding(size);
      const std::uint64_t number = folding.number(v);
      for (std::uint64_t bit = folding.power() / 2; bit > number && !folding.is_folded(v); bit /= 2)
        emit(folding.member(number + bit), folding.power() / (2 * bit));
      return;
    }
  }
}

/// The parent of member v > 0, and the blocks of the subtree of v; none for members that do not take part.
inline std::optional<std::pair<std::uint64_t, std::uint64_t>> parent(Tree tree, std::uint64_t v, std::uint64_t size) {
  switch (tree) {
    case Tree::binomial:
      return std::pair(v - lowest_bit(v), subtree(v, size));
    case Tree::binary:
      return std::pair((v - 1) / 2, std::uint64_t{1});
    case Tree::quaternomial: {
      std::uint64_t digit = 1;
      while (v / digit % 4 == 0) digit *= 4;
      return std::pair(v - v / digit % 4 * digit, std::uint64_t{1});
    }
    case Tree::chain:
      return std::pair(v - 1, std::uint64_t{1});
    case Tree::halving: {
      const Folding folding(size);
      if (folding.is_folded(v)) return std::nullopt;
      const std::uint64_t number = folding.number(v), bit = std::bit_floor(number);
      assert(number > 0);  // that of the root
      return std::pair(folding.member(number - bit), folding.power() / (2 * bit));
    }
  }
  return std::nullopt;
}

/// Calls round(to, from, blocks) for the rounds in which member p, counted from the root, exchanges data with one or
/// two others, in order, if the shape consists of such rounds.
template <class Round>
void for_each_round(Shape shape, std::uint64_t size, std::uint64_t p, const Round& round) {
  const auto after = [&](std::uint64_t distance) { return (p + distance) % size; };
  switch (shape) {
    case Shape::ring:
      if (size > 1) round(after(1), after(size - 1), 1);
      return;
    case Shape::neighbours:
      if (size < 2) return;
      round(after(1), after(size - 1), 1);
      return round(after(size - 1), after(1), 1);
    case Shape::partial_doubling:
      for (std::uint64_t bit = 1; bit < size; bit *= 2)
        if ((p ^ bit) < size) round(p ^ bit, p ^ bit, 1);
      return;
    case Shape::dissemination:
      for (std::uint64_t bit = 1; bit < size; bit *= 2) round(after(bit), after(size - bit), 1);
      return;
    case Shape::halving:
    case Shape::block_doubling: {
      const Folding folding(size);
      for (std::uint64_t bit = 1; bit < folding.power() && !folding.is_folded(p); bit *= 2) {
        const std::uint64_t other = folding.member(folding.number(p) ^ bit);
        round(other, other, shape == Shape::halving ? folding.power() / (2 * bit) : bit);
      }
      return;
    }
    case Shape::bruck:
      for (std::uint64_t bit = 1; bit < size; bit *= 2) round(after(size - bit), after(bit), std::min(bit, size - bit));
      return;
    case Shape::bruck_alltoall:
      for (std::uint64_t bit = 1; bit < size; bit *= 2) {
        const std::uint64_t rest = size % (2 * bit);
        round(after(bit), after(size - bit), size / (2 * bit) * bit + (rest > bit ? rest - bit : 0));
      }
      return;
    default:
      return;
  }
}

/// Calls emit(to, blocks) for every member that member p sends to.
template <class Emit>
void sends(Shape shape, std::uint64_t size, std::uint64_t root, std::uint64_t p, const Emit& emit) {
  const std::uint64_t v = (p + size - root) % size;  // trees and rounds number members from the root
  const auto position = [&](std::uint64_t from_root) { return (from_root + root) % size; };
  if (const auto tree = tree_shape(shape)) {
    const auto send = [&](std::uint64_t to, std::uint64_t below) { emit(position(to), tree->blocks ? below : 1); };
    if (!tree->up) return for_each_child(tree->tree, v, size, send);
    const auto up = v > 0 ? parent(tree->tree, v, size) : std::nullopt;
    if (up) send(up->first, up->second);
    return;
  }
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
    case Shape::doubling:
      return doubling_sends(p, size, emit);
    case Shape::fold_in:
      if (Folding(size).is_folded(v)) emit(position(v - 1), 1);
      return;
    case Shape::fold_out:
      if (Folding(size).has_partner(v)) emit(position(v + 1), 1);
      return;
    default:
      for_each_round(shape, size, v,
                     [&](std::uint64_t to, std::uint64_t, std::uint64_t blocks) { emit(position(to), blocks); });
  }
}

}  // namespace rankloom::collective_shapes
