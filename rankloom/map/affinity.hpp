// SPDX-License-Identifier: Apache-2.0
// map: who talks how much with whom, both directions together: what mappers group by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// Disjoint groups of elements, in order, each with its members in order. 4 bytes a member, 8 a group.
struct Groups {
  std::vector<std::uint32_t> members;  ///< Group after group.
  std::vector<std::uint64_t> ends{0};  ///< A zero, then where each group ends.

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends.size() - 1); }
  std::span<const std::uint32_t> operator[](std::uint32_t group) const {
    return {members.data() + ends[group], static_cast<std::size_t>(ends[group + 1] - ends[group])};
  }
  /// The members pushed since the last call become a group.
  void close() { ends.push_back(members.size()); }
};

/// A symmetric sparse matrix in compressed rows without a diagonal: w(i, j) = bytes from i to j + bytes from j to i.
/// The elements are ranks, or groups of ranks after contracted(). Rows list their neighbours in rising order; pairs
/// without bytes are left out. 12 bytes for each direction of a pair.
class Affinity {
 public:
  explicit Affinity(const CommGraph& graph);

  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  /// Both directions counted.
  EdgeIndex edge_count() const { return neighbours_.size(); }
  std::span<const std::uint32_t> neighbours(std::uint32_t element) const {
    return {neighbours_.data() + offsets_[element], degree(element)};
  }
  std::span<const double> weights(std::uint32_t element) const {
    return {weights_.data() + offsets_[element], degree(element)};
  }
  std::size_t degree(std::uint32_t element) const {
    return static_cast<std::size_t>(offsets_[element + 1] - offsets_[element]);
  }
  std::span<const EdgeIndex> offsets() const { return offsets_; }
  std::span<const std::uint32_t> all_neighbours() const { return neighbours_; }
  std::span<const double> all_weights() const { return weights_; }

  /// The matrix between groups that hold every element: Cruz 2019, Algorithm 4. w(a, b) for a < b is added up over the
  /// members of a, and for each over those of b, in their order, so it equals the paper's sum to the last bit.
  /// Parallel, O(edges), O(edges log degree) where sums are rounded; the same for any number of threads.
  Affinity contracted(const Groups& groups) const;

  /// What is said inside each group: element i of a part is the group's member i. Groups need not hold everyone.
  /// O(edges) for all together, parallel over the groups.
  std::vector<Affinity> split(const Groups& groups) const;

 private:
  Affinity() = default;
  /// For programs in which everybody is answered, as in most: one pass, no second copy of the edges. False when
  /// somebody is not; then nothing useful was done.
  bool add_answers(const CommGraph& graph);
  /// For every program.
  void merge_with_incoming(const CommGraph& graph);
  void note_whether_exact();

  Array<EdgeIndex> offsets_;
  Array<std::uint32_t> neighbours_;
  Array<double> weights_;
  bool exact_ = true;  // every sum of weights is free of rounding, in whatever order
};

}  // namespace rankloom
