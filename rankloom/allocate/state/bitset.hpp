// SPDX-License-Identifier: Apache-2.0
// allocate/state: sets of nodes, routers or links as bits, 64 per machine word.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankloom {

/// A set of numbers 0..size-1. Bits beyond the size are always 0.
class Bitset {
 public:
  Bitset() = default;
  explicit Bitset(std::size_t size) : size_(size), words_((size + 63) / 64) {}

  std::size_t size() const { return size_; }
  std::span<const std::uint64_t> words() const { return words_; }

  bool test(std::size_t at) const { return ((words_[at / 64] >> (at % 64)) & 1) != 0; }
  void set(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  void reset(std::size_t at) { words_[at / 64] &= ~(std::uint64_t{1} << (at % 64)); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  std::size_t count() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
  bool intersects(const Bitset& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  bool is_subset_of(const Bitset& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~other.words_[i]) != 0) return false;
    }
    return true;
  }
  Bitset& operator|=(const Bitset& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  Bitset& operator-=(const Bitset& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  bool operator==(const Bitset&) const = default;

  /// Up to 64 bits starting at `from`; bit `from` becomes the lowest bit of the result.
  std::uint64_t window(std::size_t from, std::size_t width) const {
    const std::size_t word = from / 64, shift = from % 64;
    std::uint64_t bits = words_[word] >> shift;
    if (shift > 0 && word + 1 < words_.size()) bits |= words_[word + 1] << (64 - shift);
    return width >= 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
  }

  /// Calls visit(number) for every member, in order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
        visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace rankloom
