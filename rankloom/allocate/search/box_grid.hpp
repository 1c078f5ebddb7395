// SPDX-License-Identifier: Apache-2.0
// allocate/search: the nodes of a mesh or torus as rows of bits, and the positions at which a box of given extents
// fits. A row runs along the last dimension. 64 nodes share one machine word, so that all positions are tested
// together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

/// Sizes in routing order: the last dimension of the network, along which the rows run, comes first.
struct GridShape {
  std::vector<std::uint32_t> sizes;
  bool torus = false;
  std::uint32_t rows = 1, words = 1;  ///< Rows over all dimensions but the first; words per row.

  explicit GridShape(const MeshShape& mesh);
  std::size_t dimensions() const { return sizes.size(); }
  std::uint32_t nodes() const { return rows * sizes[0]; }
  /// Distance of the numbers of rows that are neighbours in a dimension after the first.
  std::uint32_t row_stride(std::size_t dimension) const {
    std::uint32_t stride = 1;
    for (std::size_t j = 1; j < dimension; ++j) stride *= sizes[j];
    return stride;
  }
};

/// Extents of a box, in the order of GridShape::sizes.
using Extents = std::vector<std::uint32_t>;

class BitGrid {
 public:
  explicit BitGrid(const GridShape& shape) : shape_(&shape), words_(std::size_t{shape.rows} * shape.words) {}
  /// Bit i of the set is node i; with `complement` the nodes that are not in the set.
  void load(const Bitset& bits, bool complement);

  std::span<const std::uint64_t> row(std::uint32_t row) const {
    return std::span(words_).subspan(std::size_t{row} * shape_->words, shape_->words);
  }
  bool test(std::uint32_t row, std::uint32_t x) const {
    return ((words_[std::size_t{row} * shape_->words + x / 64] >> (x % 64)) & 1) != 0;
  }
  void set(std::uint32_t row, std::uint32_t x) {
    words_[std::size_t{row} * shape_->words + x / 64] |= std::uint64_t{1} << (x % 64);
  }
  bool empty() const;
  BitGrid& operator&=(const BitGrid& other);

  /// Clears the positions whose two neighbours in some dimension are both set.
  void keep_boundary();
  /// Keeps the positions at which a run of `extent` set bits starts in this dimension; on a torus runs wrap around.
  void erode(std::size_t dimension, std::uint32_t extent);

 private:
  void and_along_row(std::uint32_t shift);
  void and_across_rows(std::size_t dimension, std::uint32_t shift);

  const GridShape* shape_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace rankloom
