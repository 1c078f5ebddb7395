// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: changes inputs at random. It knows what readers of text and of binary files trip over: numbers at the
// limits of their types, repeated or missing lines, brackets, truncated files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/random.hpp"

namespace rankloom::fuzz {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// The input after one to four changes, at most `max_size` bytes. Parts of `others` may be inserted.
  std::string mutate(std::string_view input, std::span<const std::string> others, std::size_t max_size);

 private:
  struct Range {
    std::size_t begin, size;
  };
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  Range any_range(std::string_view text, std::size_t max_size);
  Range any_line(std::string_view text);

  void change_byte(std::string& text);
  void change_bit(std::string& text);
  void insert_bytes(std::string& text);
  void erase_range(std::string& text);
  void duplicate_range(std::string& text);
  void duplicate_line(std::string& text);
  void erase_line(std::string& text);
  void swap_lines(std::string& text);
  void replace_number(std::string& text);
  void write_integer(std::string& text);
  void insert_token(std::string& text);
  void truncate(std::string& text);
  void splice(std::string& text, std::span<const std::string> others);

  Random random_;
};

}  // namespace rankloom::fuzz
