// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: changes inputs at random.
#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace rankloom::fuzz {

namespace {

/// Numbers in text, at and beyond the limits of types and of what readers accept.
constexpr auto numbers = std::to_array<std::string_view>({"0",
                                                          "1",
                                                          "2",
                                                          "-1",
                                                          "3.5",
                                                          "007",
                                                          "255",
                                                          "256",
                                                          "65535",
                                                          "65536",
                                                          "1048576",
                                                          "4000000",
                                                          "16777216",
                                                          "2147483647",
                                                          "2147483648",
                                                          "4294967294",
                                                          "4294967295",
                                                          "4294967296",
                                                          "9007199254740993",
                                                          "9223372036854775807",
                                                          "18446744073709551615",
                                                          "18446744073709551616",
                                                          "99999999999999999999",
                                                          "1e9",
                                                          "1e300",
                                                          "-1e300",
                                                          "1e309",
                                                          "1e-320",
                                                          "nan",
                                                          "inf",
                                                          "0x10",
                                                          "1,5",
                                                          "0-18446744073709551615",
                                                          "1-4000000"});

/// Integers in binary files.
constexpr auto integers = std::to_array<std::uint64_t>({0,
                                                        1,
                                                        2,
                                                        3,
                                                        7,
                                                        8,
                                                        16,
                                                        127,
                                                        128,
                                                        255,
                                                        256,
                                                        4096,
                                                        65535,
                                                        65536,
                                                        0x7fffffff,
                                                        0x80000000,
                                                        0xfffffffe,
                                                        0xffffffff,
                                                        0x100000000,
                                                        0x7fffffffffffffff,
                                                        0x8000000000000000,
                                                        0xfffffffffffffffe,
                                                        0xffffffffffffffff});

constexpr auto tokens = std::to_array<std::string_view>({"\n",
                                                         "\r\n",
                                                         " ",
                                                         "\t",
                                                         ",",
                                                         ":",
                                                         ";",
                                                         "=",
                                                         "-",
                                                         "--",
                                                         "[",
                                                         "]",
                                                         "{",
                                                         "}",
                                                         "(",
                                                         ")",
                                                         "\"",
                                                         "'",
                                                         "#",
                                                         "%",
                                                         "/",
                                                         "<",
                                                         ">",
                                                         "&",
                                                         "*",
                                                         "+",
                                                         ".",
                                                         "..",
                                                         "@",
                                                         "x",
                                                         "[[[[[[[[",
                                                         "{\"a\":",
                                                         "null",
                                                         "true",
                                                         "[]",
                                                         "{}",
                                                         "\\u0000",
                                                         "\xef\xbb\xbf",
                                                         "\xff\xff\xff\xff",
                                                         "\x80",
                                                         "localhost",
                                                         "node",
                                                         "core",
                                                         "n[1-3]",
                                                         "1e",
                                                         "-0"});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

Mutator::Range Mutator::any_range(std::string_view text, std::size_t max_size) {
  const std::size_t begin = below(text.size() + 1);
  return {begin, std::min(text.size() - begin, 1 + below(max_size))};
}

Mutator::Range Mutator::any_line(std::string_view text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
  return {begin, text.empty() ? 0 : end + 1 - begin};
}

void Mutator::change_byte(std::string& text) {
  if (!text.empty()) text[below(text.size())] = static_cast<char>(below(256));
}

void Mutator::change_bit(std::string& text) {
  if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1U << below(8));
}

void Mutator::insert_bytes(std::string& text) {
  const bool repeated = below(4) == 0;
  const auto byte = static_cast<char>(below(256));
  std::string bytes(1 + below(repeated ? 64 : 8), byte);
  if (!repeated) {
    for (char& c : bytes) c = static_cast<char>(below(256));
  }
  text.insert(below(text.size() + 1), bytes);
}

void Mutator::erase_range(std::string& text) {
  const Range range = any_range(text, below(4) == 0 ? 256 : 8);
  text.erase(range.begin, range.size);
}

void Mutator::duplicate_range(std::string& text) {
  const Range range = any_range(text, 64);
  const std::string copy = text.substr(range.begin, range.size);
  text.insert(below(text.size() + 1), copy);
}

void Mutator::duplicate_line(std::string& text) {
  const Range line = any_line(text);
  const std::string copy = text.substr(line.begin, line.size);
  const std::size_t copies = below(8) == 0 ? 1 + below(50) : 1;
  const std::size_t to = below(2) == 0 ? line.begin : any_line(text).begin;
  for (std::size_t i = 0; i < copies; ++i) text.insert(to, copy);
}

void Mutator::erase_line(std::string& text) {
  const Range line = any_line(text);
  text.erase(line.begin, line.size);
}

void Mutator::swap_lines(std::string& text) {
  const Range from = any_line(text);
  const std::string line = text.substr(from.begin, from.size);
  text.erase(from.begin, from.size);
  text.insert(any_line(text).begin, line);
}

/// Replaces one run of digits.
void Mutator::replace_number(std::string& text) {
  const std::size_t from = below(text.size() + 1);
  auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit);
  if (begin == text.end()) begin = std::find_if(text.begin(), text.end(), is_digit);
  if (begin == text.end()) return insert_token(text);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  text.replace(begin, end, std::string(numbers[below(numbers.size())]));
}

void Mutator::write_integer(std::string& text) {
  const std::size_t size = std::size_t{1} << below(4);
  if (text.size() < size) return;
  std::uint64_t value = integers[below(integers.size())];
  if (below(4) == 0) value = text.size() - below(std::min<std::size_t>(text.size(), 64));
  // Binary files align their fields.
  const std::size_t slots = text.size() / size;
  std::memcpy(text.data() + below(slots) * size, &value, size);
}

void Mutator::insert_token(std::string& text) {
  const auto all = tokens.size() + numbers.size();
  const std::size_t chosen = below(all);
  const std::string_view token = chosen < tokens.size() ? tokens[chosen] : numbers[chosen - tokens.size()];
  text.insert(below(text.size() + 1), token);
}

void Mutator::truncate(std::string& text) {
  text.resize(below(text.size() + 1));
}

void Mutator::splice(std::string& text, std::span<const std::string> others) {
  if (others.empty()) return duplicate_range(text);
  const std::string& other = others[below(others.size())];
  const Range range = any_range(other, other.size() + 1);
  const std::size_t at = below(text.size() + 1);
  if (below(2) == 0) text.resize(at);
  text.insert(at, other, range.begin, range.size);
}

std::string Mutator::mutate(std::string_view input, std::span<const std::string> others, std::size_t max_size) {
  using Change = void (Mutator::*)(std::string&);
  static constexpr auto changes = std::to_array<Change>(
      {&Mutator::change_byte, &Mutator::change_bit, &Mutator::insert_bytes, &Mutator::erase_range,
       &Mutator::duplicate_range, &Mutator::duplicate_line, &Mutator::erase_line, &Mutator::swap_lines,
       &Mutator::replace_number, &Mutator::replace_number, &Mutator::write_integer, &Mutator::write_integer,
       &Mutator::insert_token, &Mutator::truncate});
  std::string text(input);
  for (std::size_t left = 1 + below(4); left > 0; --left) {
    const std::size_t chosen = below(changes.size() + 1);
    if (chosen == changes.size()) {
      splice(text, others);
    } else {
      (this->*changes[chosen])(text);
    }
    if (text.size() > max_size) text.resize(max_size);
  }
  return text;
}

}  // namespace rankloom::fuzz
