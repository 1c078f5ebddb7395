// SPDX-License-Identifier: Apache-2.0
// core/text: escapes control characters.
#include "rankloom/core/text/control_characters.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";

struct CodePoint {
  std::size_t bytes = 1;  ///< Of the character, or of the invalid sequence.
  std::uint32_t value = 0;
  bool valid = false;
};

/// The first character of a text that is not empty, by the table of well-formed sequences of the Unicode standard.
CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  CodePoint point{1, lead & (0x7fU >> length), true};
  for (; point.bytes < length; ++point.bytes) {
    unsigned char low = 0x80, high = 0xbf;
    if (point.bytes == 1 && lead == 0xe0) low = 0xa0;   // a shorter sequence would do
    if (point.bytes == 1 && lead == 0xed) high = 0x9f;  // surrogates
    if (point.bytes == 1 && lead == 0xf0) low = 0x90;
    if (point.bytes == 1 && lead == 0xf4) high = 0x8f;
    if (point.bytes >= text.size() || byte(point.bytes) < low || byte(point.bytes) > high) {
      point.valid = false;
      return point;
    }
    point.value = point.value << 6 | (byte(point.bytes) & 0x3fU);
  }
  return point;
}

/// Marks, embeddings and overrides of the writing direction, and separators of lines and paragraphs.
bool reorders_text(std::uint32_t value) {
  return value == 0x061c || value == 0x200e || value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

std::string escape_controls(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  const auto is_plain = [&](char c) { return (c >= ' ' && c <= '~') || kept.find(c) != std::string_view::npos; };
  while (true) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return shown;
    const CodePoint point = decode_utf8(text);
    const std::string_view character = text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
    if (!point.valid) {
      shown += replacement_character;
    } else if (point.value < 0x20) {
      shown += fmt::format("\\x{:02x}", point.value);
    } else if ((point.value >= 0x7f && point.value < 0xa0) || reorders_text(point.value)) {
      shown += fmt::format("\\u{:04x}", point.value);
    } else {
      shown += character;
    }
  }
}

}  // namespace

std::string without_controls(std::string_view text) {
  return escape_controls(text, "");
}

std::string lines_without_controls(std::string_view text) {
  return escape_controls(text, "\n\t");
}

}  // namespace rankloom
