// SPDX-License-Identifier: Apache-2.0
// map: the affinity matrix: traffic between ranks, or groups of ranks, with both directions added up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Disjoint groups of elements, in order, each with its members in order. 4 bytes per member, 8 per group.
struct Groups {
  std::vector<std::uint32_t> members;  ///< The members of all groups, group after group.
  std::vector<std::uint64_t> ends{0};  ///< 0, then the end of each group in `members`.

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends.size() - 1); }
  std::span<const std::uint32_t> operator[](std::uint32_t group) const {
    return {members.data() + ends[group], static_cast<std::size_t>(ends[group + 1] - ends[group])};
  }
  /// Ends the current group: the members added since the last call become a group.
  void close() { ends.push_back(members.size()); }
};

/// A symmetric sparse matrix in compressed rows without a diagonal: w(i, j) = bytes from i to j + bytes from j to i.
/// The elements are ranks, or groups of ranks after contract(). Rows list their neighbours in ascending order; pairs
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

  /// The matrix between groups that contain every element: Cruz 2019, Algorithm 4. w(a, b) for a < b is summed over the
  /// members of a, and for each of them over those of b, in their order, so it equals the paper's sum to the last bit.
  /// Parallel, O(edges), O(edges log degree) if sums are rounded; the same for any number of threads.
  Affinity contract(const Groups& groups) const;

  /// The submatrix of each group: its element i is member i of the group. Groups need not contain every element.
  /// O(edges) in total, parallel over the groups.
  std::vector<Affinity> split(const Groups& groups) const;

 private:
  Affinity() = default;
  /// For graphs in which every edge has a reverse edge, as in most programs: no copy of the incoming edges. Returns
  /// false if an edge has none; the matrix is then undefined.
  bool add_reverse_edges(const CommGraph& graph);
  void drop_edges_without_weight();
  /// For every graph.
  void merge_with_incoming(const CommGraph& graph);
  void check_exactness();

  Array<EdgeIndex> offsets_;
  Array<std::uint32_t> neighbours_;
  Array<double> weights_;
  bool exact_ = true;  // sums of weights have no rounding error, in any order
};

}  // namespace rankloom
