// SPDX-License-Identifier: Apache-2.0
// core/text: a cursor over text for all readers of numbers: one pass, no copies, no terminating zero needed. Line ends
// are "\n" or "\r\n"; only readers that ask for line ends distinguish them from other white space.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rankloom {

/// Number of the line, counted from 1, that contains this position of the text. O(text before it): for messages only.
inline std::uint64_t line_of(std::string_view text, const char* position) {
  return 1 + static_cast<std::uint64_t>(std::count(text.data(), position, '\n'));
}

namespace scan {

/// Powers of ten that a double represents exactly.
inline constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
/// Eight characters are read as one word whose lowest byte is the first of them.
inline constexpr bool by_words = std::endian::native == std::endian::little;

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}
/// The characters that may follow a number: white space or a comma.
inline bool ends_number(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == ',';
}

/// The leading digits of eight characters as one number, and how many digits there are.
struct EightDigits {
  std::uint32_t value;
  int digits;
};
inline EightDigits eight_digits(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  word ^= 0x3030303030303030;  // digits become 0..9
  // Sets the high bit of every byte above 9. A carry out of such a byte changes only bytes after the first of them.
  const std::uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  const int digits = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (digits == 0) return {0, 0};
  word <<= 64 - digits * 8;  // pads with leading zeros to eight digits
  word = (word * 10) + (word >> 8);
  word = (((word & 0x000000ff000000ff) * 0x000f424000000064) +
          (((word >> 16) & 0x000000ff000000ff) * 0x0000271000000001)) >>
         32;
  return {static_cast<std::uint32_t>(word), digits};
}

}  // namespace scan

/// Moves forward only. Every take_… function either succeeds and moves past what it took, or fails and does not move.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  bool done() const { return at_ == end_; }
  bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }
  const char* position() const { return at_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  std::uint64_t line() const { return line_of({begin_, static_cast<std::size_t>(end_ - begin_)}, at_); }

  bool next_is(char c) const { return at_ != end_ && *at_ == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  /// Spaces, tabs and carriage returns.
  void skip_blanks() {
    while (at_ != end_ && scan::is_blank(*at_)) ++at_;
  }
  /// Blanks and line ends.
  void skip_space() {
    while (at_ != end_ && (scan::is_blank(*at_) || *at_ == '\n')) ++at_;
  }
  /// To the start of the next line, or to the end.
  void skip_line() {
    const void* const end = done() ? nullptr : std::memchr(at_, '\n', rest().size());
    at_ = end == nullptr ? end_ : static_cast<const char*>(end) + 1;
  }
  /// The characters up to the next white space; empty if the next character is white space.
  std::string_view take_token() {
    const char* const from = at_;
    while (at_ != end_ && static_cast<unsigned char>(*at_) > ' ') ++at_;
    return {from, static_cast<std::size_t>(at_ - from)};
  }
  /// The rest of this line without its line end; moves to the start of the next line.
  std::string_view take_line() {
    const char* const from = at_;
    skip_line();
    std::string_view line(from, static_cast<std::size_t>(at_ - from));
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  /// Decimal digits, followed by white space, a comma or the end. Fails above 2^64 - 1.
  bool take_integer(std::uint64_t& value);
  /// A finite decimal number: sign, digits, point, exponent. Correctly rounded. Fails on "nan", "inf" and overflow.
  bool take_number(double& value);

  /// The token at the cursor, shortened and made printable; "nothing" if there is none.
  std::string token_for_message() const;

 private:
  bool ended(const char* at) const { return at == end_ || scan::ends_number(*at); }
  bool take_unusual_number(double& value);

  const char* begin_;
  const char* at_;
  const char* end_;
};

inline bool Scanner::take_integer(std::uint64_t& value) {
  const char* at = at_;
  std::uint64_t result = 0;
  if (scan::by_words && end_ - at >= 8) [[likely]] {
    const auto [number, digits] = scan::eight_digits(at);
    at += digits;
    result = number;
    if (digits < 8) [[likely]] {
      if (digits == 0 || !scan::ends_number(*at)) return false;
      at_ = at;
      value = result;
      return true;
    }
  }
  for (; at != end_ && scan::is_digit(*at); ++at) {
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    if (result > (UINT64_MAX - digit) / 10) return false;
    result = result * 10 + digit;
  }
  if (at == at_ || !ended(at)) return false;
  at_ = at;
  value = result;
  return true;
}

/// Clinger's fast path (1990): an integer of at most 2^53 divided by an exact power of ten is correctly rounded. All
/// other numbers go to the standard library.
inline bool Scanner::take_number(double& value) {
  if (scan::by_words && end_ - at_ >= 8) {
    const auto [number, digits] = scan::eight_digits(at_);
    if (digits > 0 && digits < 8 && scan::ends_number(at_[digits])) [[likely]] {
      at_ += digits;
      value = number;
      return true;
    }
  }
  const char* at = at_;
  const bool negative = at != end_ && *at == '-';
  if (at != end_ && (*at == '-' || *at == '+')) ++at;
  std::uint64_t mantissa = 0;
  std::ptrdiff_t digits = 0;
  const auto take_digits = [&] {
    const char* const from = at;
    for (; at != end_ && scan::is_digit(*at); ++at) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
    digits += at - from;
    return at - from;
  };
  take_digits();
  std::ptrdiff_t decimals = 0;
  if (at != end_ && *at == '.') {
    ++at;
    decimals = take_digits();
  }
  if (digits == 0) return false;
  if (at != end_ && (*at == 'e' || *at == 'E')) return take_unusual_number(value);
  if (!ended(at)) return false;
  // 19 digits always fit into 64 bits. Counting leading zeros, too, only sends more numbers to the slow path.
  if (digits > 19 || mantissa > (std::uint64_t{1} << 53) || decimals > 22) return take_unusual_number(value);
  const double magnitude = static_cast<double>(mantissa) / scan::exact_powers[decimals];
  value = negative ? -magnitude : magnitude;
  at_ = at;
  return true;
}

/// Precondition: a digit follows the sign.
inline bool Scanner::take_unusual_number(double& value) {
  const char* const from = *at_ == '+' ? at_ + 1 : at_;  // from_chars does not accept a plus sign
  double result = 0;
  const auto [after, error] = std::from_chars(from, end_, result);
  if (error != std::errc() || !ended(after) || !std::isfinite(result)) return false;
  value = result;
  at_ = after;
  return true;
}

inline std::string Scanner::token_for_message() const {
  constexpr std::size_t max_size = 32;
  std::string result;
  for (const char* at = at_; at != end_ && (!scan::ends_number(*at) || (at == at_ && *at == ',')); ++at) {
    if (result.size() == max_size) return result + "…";
    const bool printable = *at > ' ' && *at < 127;
    result += printable ? *at : '?';
  }
  return result.empty() ? "nothing" : result;
}

}  // namespace rankloom
