// SPDX-License-Identifier: Apache-2.0
// map/external: greedy rebalancing of a partition by smallest loss.
#include "rankloom/map/external/rebalance.hpp"

#include <functional>
#include <queue>
#include <vector>

namespace rankloom {
namespace {

/// The edge weight between one element at a time and each block. O(degree) per element.
class BlockWeights {
 public:
  BlockWeights(const Affinity& affinity, std::size_t blocks) : affinity_(affinity), to_(blocks, 0.0) {}

  void compute(std::uint32_t element, std::span<const std::uint32_t> block_of) {
    for (const std::uint32_t block : adjacent_) to_[block] = 0;
    adjacent_.clear();
    const auto neighbours = affinity_.neighbours(element);
    const auto weights = affinity_.weights(element);
    for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
      const std::uint32_t block = block_of[neighbours[edge]];
      if (to_[block] == 0) adjacent_.push_back(block);
      to_[block] += weights[edge];
    }
  }
  double to(std::uint32_t block) const { return to_[block]; }
  std::span<const std::uint32_t> adjacent() const { return adjacent_; }

 private:
  const Affinity& affinity_;
  std::vector<double> to_;
  std::vector<std::uint32_t> adjacent_;
};

/// The free capacity of each block; negative if the block is overloaded.
class FreeCapacity {
 public:
  FreeCapacity(std::span<const std::uint32_t> block_of, std::span<const std::uint64_t> max_block_weight)
      : free_(max_block_weight.size()) {
    for (std::size_t block = 0; block < free_.size(); ++block) {
      free_[block] = static_cast<std::int64_t>(max_block_weight[block]);
    }
    for (const std::uint32_t block : block_of) --free_[block];
  }
  std::int64_t operator[](std::uint32_t block) const { return free_[block]; }
  /// The first block with free capacity.
  std::uint32_t first_free() {
    while (free_[first_free_] <= 0) ++first_free_;
    return first_free_;
  }
  void move(std::uint32_t from, std::uint32_t to) {
    ++free_[from];
    --free_[to];
  }

 private:
  std::vector<std::int64_t> free_;
  std::uint32_t first_free_ = 0;
};

struct Move {
  double loss;
  std::uint32_t element, to;
  bool operator>(const Move& other) const { return loss != other.loss ? loss > other.loss : element > other.element; }
};

/// The move of the element to another block with free capacity that has the smallest loss.
Move best_move(std::uint32_t element, std::span<const std::uint32_t> block_of, BlockWeights& weight,
               FreeCapacity& free) {
  weight.compute(element, block_of);
  const std::uint32_t own = block_of[element];
  std::uint32_t best = free.first_free();
  for (const std::uint32_t block : weight.adjacent()) {
    if (block == own || free[block] <= 0) continue;
    const double gain = weight.to(block) - weight.to(best);
    if (gain > 0 || (gain == 0 && block < best)) best = block;
  }
  return {weight.to(own) - weight.to(best), element, best};
}

}  // namespace

void rebalance(const Affinity& affinity, std::span<std::uint32_t> block_of,
               std::span<const std::uint64_t> max_block_weight) {
  FreeCapacity free(block_of, max_block_weight);
  BlockWeights weight(affinity, max_block_weight.size());
  std::priority_queue<Move, std::vector<Move>, std::greater<>> queue;
  const auto enqueue = [&](std::uint32_t element) {
    if (free[block_of[element]] < 0) queue.push(best_move(element, block_of, weight, free));
  };
  for (std::uint32_t element = 0; element < block_of.size(); ++element) enqueue(element);
  while (!queue.empty()) {
    const std::uint32_t element = queue.top().element;
    queue.pop();
    if (free[block_of[element]] >= 0) continue;
    // Other moves may have changed the loss of this one. If it has grown, the element goes back to the queue. Elements
    // whose loss may have fallen are the neighbours of a moved element; they are added to the queue again below.
    const Move move = best_move(element, block_of, weight, free);
    if (!queue.empty() && move > queue.top()) {
      queue.push(move);
      continue;
    }
    free.move(block_of[element], move.to);
    block_of[element] = move.to;
    for (const std::uint32_t neighbour : affinity.neighbours(element)) enqueue(neighbour);
  }
}

}  // namespace rankloom
