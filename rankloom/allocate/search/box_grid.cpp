// SPDX-License-Identifier: Apache-2.0
// allocate/search: erosion of rows of bits by doubling: a run of 2k set bits is two runs of k set bits.
#include "rankloom/allocate/search/box_grid.hpp"

#include <algorithm>

namespace rankloom {

GridShape::GridShape(const MeshShape& mesh) : torus(mesh.torus) {
  for (auto size = mesh.sizes.rbegin(); size != mesh.sizes.rend(); ++size) {
    if (*size > 1) sizes.push_back(*size);
  }
  if (sizes.empty()) sizes.push_back(1);
  for (std::size_t j = 1; j < sizes.size(); ++j) rows *= sizes[j];
  words = (sizes[0] + 63) / 64;
}

void BitGrid::load(const Bitset& bits, bool complement) {
  const std::uint32_t width = shape_->sizes[0];
  for (std::uint32_t row = 0; row < shape_->rows; ++row) {
    for (std::uint32_t word = 0; word < shape_->words; ++word) {
      const std::uint32_t left = std::min(64U, width - word * 64);
      const std::uint64_t all = left == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
      const std::uint64_t value = bits.window(std::size_t{row} * width + std::size_t{word} * 64, left);
      words_[std::size_t{row} * shape_->words + word] = complement ? ~value & all : value;
    }
  }
}

bool BitGrid::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

BitGrid& BitGrid::operator&=(const BitGrid& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  return *this;
}

void BitGrid::erode(std::size_t dimension, std::uint32_t extent) {
  for (std::uint32_t have = 1; have < extent;) {
    const std::uint32_t more = std::min(have, extent - have);
    if (dimension == 0) {
      and_along_row(more);
    } else {
      and_across_rows(dimension, more);
    }
    have += more;
  }
}

void BitGrid::keep_boundary() {
  const std::vector<std::uint64_t> all = words_;
  const std::uint32_t words = shape_->words;
  for (std::uint32_t row = 0; row < shape_->rows; ++row) {
    for (std::uint32_t word = 0; word < words; ++word) {
      const std::size_t at = std::size_t{row} * words + word;
      const std::uint64_t before = all[at] << 1 | (word > 0 ? all[at - 1] >> 63 : 0);
      const std::uint64_t after = all[at] >> 1 | (word + 1 < words ? all[at + 1] << 63 : 0);
      words_[at] &= ~(before & after);
    }
  }
  for (std::size_t j = 1; j < shape_->dimensions(); ++j) {
    const std::size_t step = std::size_t{shape_->row_stride(j)} * words, block = step * shape_->sizes[j];
    for (std::size_t first = 0; first < all.size(); first += block) {
      for (std::size_t at = first + step; at + step < first + block; ++at)
        words_[at] &= ~(all[at - step] & all[at + step]);
    }
  }
}

/// row &= row >> shift; on a torus the bits shifted out at the low end enter at the high end.
void BitGrid::and_along_row(std::uint32_t shift) {
  const std::uint32_t width = shape_->sizes[0];
  if (shape_->words == 1) {
    for (std::uint64_t& word : words_) {
      const std::uint64_t around = shape_->torus ? (word & ((std::uint64_t{1} << shift) - 1)) << (width - shift) : 0;
      word &= word >> shift | around;
    }
    return;
  }
  const std::uint32_t words = shape_->words;
  scratch_.resize(words);
  for (std::uint32_t row = 0; row < shape_->rows; ++row) {
    std::uint64_t* const line = words_.data() + std::size_t{row} * words;
    const auto bits_from = [&](std::uint32_t from) {  // 64 bits, padded with zeros after the end
      const std::uint32_t word = from / 64, low = from % 64;
      std::uint64_t bits = word < words ? line[word] >> low : 0;
      if (low > 0 && word + 1 < words) bits |= line[word + 1] << (64 - low);
      return bits;
    };
    for (std::uint32_t word = 0; word < words; ++word) {
      std::uint64_t shifted = bits_from(word * 64 + shift);
      if (shape_->torus) {  // position i + shift wraps to i + shift - width
        const std::uint32_t wraps_from = width - shift, first = word * 64;
        if (wraps_from <= first) {
          shifted |= bits_from(first - wraps_from);
        } else if (wraps_from < first + 64) {
          shifted |= line[0] << (wraps_from - first);
        }
        if (word + 1 == words && width % 64 != 0) shifted &= (std::uint64_t{1} << (width % 64)) - 1;
      }
      scratch_[word] = shifted;
    }
    for (std::uint32_t word = 0; word < words; ++word) line[word] &= scratch_[word];
  }
}

/// Rows that are neighbours in the dimension are `step` words apart, so all rows of one block are shifted together.
void BitGrid::and_across_rows(std::size_t dimension, std::uint32_t shift) {
  const std::size_t step = std::size_t{shape_->row_stride(dimension)} * shape_->words;
  const std::size_t block = step * shape_->sizes[dimension], moved = step * shift;
  for (std::size_t first = 0; first < words_.size(); first += block) {
    std::uint64_t* const line = words_.data() + first;
    if (shape_->torus) scratch_.assign(line, line + moved);
    for (std::size_t at = 0; at + moved < block; ++at) line[at] &= line[at + moved];
    for (std::size_t at = 0; at < moved; ++at) line[block - moved + at] &= shape_->torus ? scratch_[at] : 0;
  }
}

}  // namespace rankloom
