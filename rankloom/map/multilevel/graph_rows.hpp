// SPDX-License-Identifier: Apache-2.0
// map/multilevel: compressed sparse rows of weighted edges, and how they are made in parallel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/core/parallel.hpp"

namespace rankloom::multilevel {

/// One direction of an edge. Edge weights are floats, sums over them doubles: the weights of coarse graphs are off by a
/// few parts in a million, which does not change a decision that matters, and the final placement is evaluated by the
/// exact cost.
struct Edge {
  std::uint32_t to;
  float weight;
};

/// The edges of a vertex: their ends and their weights, or their ends and one weight that all have.
class EdgeRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Edge;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Edge;

    Iterator(const std::uint32_t* to, const float* weight, std::uint32_t stride, std::uint32_t weight_stride)
        : to_(to), weight_(weight), stride_(stride), weight_stride_(weight_stride) {}
    Edge operator*() const { return {*to_, *weight_}; }
    Iterator& operator++() {
      to_ += stride_;
      weight_ += weight_stride_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return to_ == other.to_; }

   private:
    const std::uint32_t* to_;
    const float* weight_;
    std::uint32_t stride_, weight_stride_;
  };

  EdgeRange(const Edge* edges, std::size_t size)
      : to_(size > 0 ? &edges->to : nullptr),
        weight_(size > 0 ? &edges->weight : nullptr),
        size_(size),
        stride_(2),
        weight_stride_(2) {
    static_assert(sizeof(Edge) == 2 * sizeof(std::uint32_t) && sizeof(float) == sizeof(std::uint32_t));
  }
  EdgeRange(const std::uint32_t* ends, const float* weight, std::size_t size)
      : to_(ends), weight_(weight), size_(size), stride_(1), weight_stride_(0) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Edge operator[](std::size_t at) const { return {to_[at * stride_], weight_[at * weight_stride_]}; }
  Edge front() const { return (*this)[0]; }
  Iterator begin() const { return {to_, weight_, stride_, weight_stride_}; }
  Iterator end() const { return {to_ + size_ * stride_, weight_, stride_, weight_stride_}; }

 private:
  const std::uint32_t* to_;
  const float* weight_;
  std::size_t size_;
  std::uint32_t stride_, weight_stride_;  // in numbers of 4 bytes
};

/// Where each row begins: 4 bytes per row, 8 if there can be 2^32 edges or more.
class RowOffsets {
 public:
  RowOffsets() : RowOffsets(0, 0) {}
  RowOffsets(std::size_t rows, std::uint64_t max_edges)
      : is_wide_(max_edges > std::numeric_limits<std::uint32_t>::max()),
        narrow_(is_wide_ ? 0 : rows + 1),
        wide_(is_wide_ ? rows + 1 : 0) {
    set(0, 0);
  }

  std::size_t row_count() const { return (is_wide_ ? wide_.size() : narrow_.size()) - 1; }
  std::uint64_t operator[](std::size_t row) const { return is_wide_ ? wide_[row] : narrow_[row]; }
  std::uint64_t edge_count() const { return (*this)[row_count()]; }

  /// Of every row, in any order; then add_up() makes the offsets.
  void set_degree(std::size_t row, std::uint64_t degree) { set(row + 1, degree); }
  void add_up() {
    std::partial_sum(narrow_.begin(), narrow_.end(), narrow_.begin());
    std::partial_sum(wide_.begin(), wide_.end(), wide_.begin());
  }

 private:
  void set(std::size_t at, std::uint64_t value) {
    if (is_wide_) {
      wide_[at] = value;
    } else {
      narrow_[at] = static_cast<std::uint32_t>(value);
    }
  }

  bool is_wide_;
  Array<std::uint32_t> narrow_;
  Array<std::uint64_t> wide_;
};

/// Entry: an edge, or the end of an edge.
template <class Entry>
struct GraphRows {
  RowOffsets offsets;
  Array<Entry> entries;
};

/// append(begin, end, entries, set_degree) appends the entries of these rows and calls set_degree(row, degree) for each
/// of them. Parallel; in addition to the result, only a few chunks exist at the same time.
template <class Entry, class Append>
GraphRows<Entry> rows_by_chunks(std::size_t count, std::uint64_t max_edges, const Append& append) {
  GraphRows<Entry> result{RowOffsets(count, max_edges), {}};
  const auto set_degree = [&](std::size_t row, std::uint64_t degree) { result.offsets.set_degree(row, degree); };
  if (count <= default_chunk) {
    append(std::size_t{0}, count, result.entries, set_degree);
  } else {
    struct Chunk {
      Array<Entry> entries;
      Entry* to = nullptr;
    };
    result.entries.reserve(max_edges);  // so that chunks can be copied while more follow
    parallel_ordered(
        count, default_chunk,
        [&](std::size_t begin, std::size_t end) {
          Chunk chunk;
          append(begin, end, chunk.entries, set_degree);
          return chunk;
        },
        [&](Chunk& chunk) {
          const std::size_t first = result.entries.size();
          result.entries.resize(first + chunk.entries.size());
          chunk.to = result.entries.data() + first;
        },
        [](const Chunk& chunk) { std::copy(chunk.entries.begin(), chunk.entries.end(), chunk.to); });
  }
  result.offsets.add_up();
  return result;
}

}  // namespace rankloom::multilevel
