// SPDX-License-Identifier: Apache-2.0
// core/text: splits large texts that contain only integers of few digits, at several characters per clock cycle.
// Readers try this first and fall back on Scanner, which accepts every number and knows its position.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "rankloom/core/array.hpp"

namespace rankloom {

namespace scan {

/// The classes of 64 characters, one bit per character; the first character is the lowest bit.
struct CharacterBits {
  std::uint64_t digits = 0;
  std::uint64_t line_ends = 0;
  bool all_known = true;  ///< Only digits, line ends and blanks.
};

/// For machines without vector instructions, and the reference for tests.
inline CharacterBits plain_character_bits(const char* from) {
  CharacterBits bits;
  for (int i = 0; i < 64; ++i) {
    const bool digit = from[i] >= '0' && from[i] <= '9';
    const bool line_end = from[i] == '\n';
    bits.digits |= static_cast<std::uint64_t>(digit) << i;
    bits.line_ends |= static_cast<std::uint64_t>(line_end) << i;
    bits.all_known &= digit || line_end || from[i] == ' ' || from[i] == '\t' || from[i] == '\r';
  }
  return bits;
}

#if defined(__SSE2__)
inline CharacterBits character_bits(const char* from) {
  CharacterBits bits;
  int known = 0xffff;
  for (std::size_t part = 0; part < 4; ++part) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + part * 16));
    const auto equal = [&](char c) { return _mm_cmpeq_epi8(text, _mm_set1_epi8(c)); };
    const auto bits_of = [](__m128i found) { return static_cast<std::uint64_t>(_mm_movemask_epi8(found)); };
    const __m128i above_nine = _mm_subs_epu8(_mm_sub_epi8(text, _mm_set1_epi8('0')), _mm_set1_epi8(9));
    const __m128i digits = _mm_cmpeq_epi8(above_nine, _mm_setzero_si128());
    const __m128i line_ends = equal('\n');
    const __m128i blanks = _mm_or_si128(_mm_or_si128(equal(' '), equal('\t')), equal('\r'));
    bits.digits |= bits_of(digits) << (part * 16);
    bits.line_ends |= bits_of(line_ends) << (part * 16);
    known &= _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(digits, line_ends), blanks));
  }
  bits.all_known = known == 0xffff;
  return bits;
}
#elif defined(__ARM_NEON)
inline CharacterBits character_bits(const char* from) {
  static constexpr std::uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t weight = vld1q_u8(weights);
  uint8x16_t digits[4], line_ends[4], known = vdupq_n_u8(0xff);
  for (std::size_t part = 0; part < 4; ++part) {
    const uint8x16_t text = vld1q_u8(reinterpret_cast<const std::uint8_t*>(from) + part * 16);
    const auto equal = [&](std::uint8_t c) { return vceqq_u8(text, vdupq_n_u8(c)); };
    digits[part] = vcltq_u8(vsubq_u8(text, vdupq_n_u8('0')), vdupq_n_u8(10));
    line_ends[part] = equal('\n');
    const uint8x16_t blanks = vorrq_u8(vorrq_u8(equal(' '), equal('\t')), equal('\r'));
    known = vandq_u8(known, vorrq_u8(vorrq_u8(digits[part], line_ends[part]), blanks));
  }
  const auto bits_of = [&](const uint8x16_t* found) {
    const auto part = [&](std::size_t i) { return vandq_u8(found[i], weight); };
    const uint8x16_t sums = vpaddq_u8(vpaddq_u8(part(0), part(1)), vpaddq_u8(part(2), part(3)));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
  };
  return {.digits = bits_of(digits), .line_ends = bits_of(line_ends), .all_known = vminvq_u8(known) == 0xff};
}
#else
inline CharacterBits character_bits(const char* from) {
  return plain_character_bits(from);
}
#endif

/// Eight characters as a machine word whose lowest byte is the first character, on every machine.
inline std::uint64_t load_eight(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// Eight bytes with values 0..9, most significant digit first, as one number.
inline std::uint32_t join_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  return static_cast<std::uint32_t>(((digits & 0x000000ff000000ff) * 0x000f424000000064 +
                                     ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
                                    32);
}

}  // namespace scan

/// The numbers of a text, and for each line how many numbers precede its end.
class NumberLines {
 public:
  /// False if the text contains anything but blanks, line ends and integers of less than eight digits.
  bool split(std::string_view text);

  std::span<const std::uint32_t> numbers() const { return {numbers_.data(), count_}; }
  /// One entry per line end, and one for a last line without line end if it contains a number.
  std::span<const std::uint32_t> line_ends() const { return {line_ends_.data(), lines_}; }

 private:
  static constexpr std::size_t window = 64;
  bool take_window(const char* from);
  static bool eight_in_a_row(std::uint64_t bits, std::uint64_t before);

  // Sized for the longest text so far and never shrunk, so that a reader of many blocks allocates once.
  Array<std::uint32_t> numbers_;
  Array<std::uint32_t> line_ends_;
  std::size_t count_ = 0;
  std::size_t lines_ = 0;
  std::uint64_t digits_before_ = 0;  // of the previous window
};

inline bool NumberLines::split(std::string_view text) {
  // A number has at least one digit and one character after it, except for the last number.
  if (line_ends_.size() < text.size() + 2) {
    numbers_.resize(text.size() / 2 + 1);
    line_ends_.resize(text.size() + 2);
  }
  count_ = lines_ = 0;
  digits_before_ = 0;
  // The first and the last window are copied, so that reading 8 characters back and 64 ahead stays inside the text.
  char copy[8 + window];
  const auto take_copy = [&](std::string_view before, std::string_view part) {
    std::memset(copy, ' ', sizeof copy);
    if (!before.empty()) std::memcpy(copy, before.data(), 8);
    if (!part.empty()) std::memcpy(copy + 8, part.data(), part.size());
    return take_window(copy + 8);
  };
  bool good = take_copy({}, text.substr(0, window));
  if (text.size() >= window) {
    std::size_t at = window;
    for (; at + window <= text.size(); at += window) good &= take_window(text.data() + at);
    good &= take_copy(text.substr(at - 8, 8), text.substr(at));
  }
  const std::size_t ended = lines_ == 0 ? 0 : line_ends_[lines_ - 1];
  if (count_ > ended) line_ends_[lines_++] = static_cast<std::uint32_t>(count_);
  return good;
}

/// Finds the ends of all numbers among 64 characters at once, then reads each number backwards from its end. No number
/// depends on the one before it, which makes this twice as fast as reading from front to back.
inline bool NumberLines::take_window(const char* from) {
  const auto [digits, line_ends, all_known] = scan::character_bits(from);
  const std::uint64_t before = std::exchange(digits_before_, digits);
  const std::uint64_t number_ends = ~digits & (digits << 1 | before >> 63);

  std::uint32_t* number = numbers_.data() + count_;
  for (std::uint64_t ends = number_ends; ends != 0; ends &= ends - 1) {
    // Digits become 0..9. Every other accepted character then has bit 4, and no digit has it.
    const std::uint64_t word = scan::load_eight(from + std::countr_zero(ends) - 8) ^ 0x3030303030303030;
    const int front = (64 + 3 - std::countl_zero(word & 0x1010101010101010)) & 63;  // bits before the number
    *number++ = scan::join_digits(word >> front << front);
  }
  std::uint64_t ends = line_ends;
  do {  // at least once: an unneeded write is cheaper than an unpredictable branch
    const std::uint64_t up_to_line_end = ends ^ (ends - 1);
    line_ends_[lines_] =
        static_cast<std::uint32_t>(count_ + static_cast<std::size_t>(std::popcount(number_ends & up_to_line_end)));
    lines_ += ends != 0;
    ends &= ends - 1;
  } while (ends != 0);
  count_ = static_cast<std::size_t>(number - numbers_.data());
  return all_known && !eight_in_a_row(digits, before);
}

/// Whether a run of eight or more ones ends in `bits`; `before` contains the 64 bits below `bits`.
inline bool NumberLines::eight_in_a_row(std::uint64_t bits, std::uint64_t before) {
  const std::uint64_t two = bits & (bits << 1 | before >> 63), two_before = before & before << 1;
  const std::uint64_t four = two & (two << 2 | two_before >> 62), four_before = two_before & two_before << 2;
  return (four & (four << 4 | four_before >> 60)) != 0;
}

}  // namespace rankloom
