// SPDX-License-Identifier: Apache-2.0
// capture/import: the layout of the numbers at the beginning of a text.
#include "rankloom/capture/import/text_layout.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

constexpr std::size_t examined_bytes = std::size_t{1} << 18;
constexpr std::size_t max_lines = 8;

bool is_integral(double number) {
  return number >= 0 && number == std::floor(number);
}

/// Complete lines from the beginning of the text; a longer first line is cut.
std::string_view beginning(std::string_view text) {
  if (text.size() <= examined_bytes) return text;
  const std::size_t end = text.rfind('\n', examined_bytes);
  return text.substr(0, end == text.npos ? examined_bytes : end + 1);
}

}  // namespace

TextLayout::TextLayout(std::string_view text) {
  const std::string_view part = beginning(text);
  std::uint64_t count = 0;
  Scanner in(part);
  while (!in.done()) {
    in.skip_blanks();
    if (in.next_is('#') || in.next_is('%')) {
      in.skip_line();
      continue;
    }
    std::size_t line_length = 0;
    for (; !in.at_line_end(); in.skip_blanks()) {
      double number = 0;
      if (!in.take_number(number)) {
        has_more = true;
        return;
      }
      if (line_lengths.empty() && line_length < first_numbers.size()) first_numbers[line_length] = number;
      if (line_lengths.empty() && !is_integral(number)) first_line_is_integral = false;
      if (line_length < 2 && !is_integral(number)) line_starts_are_integral = false;
      ++line_length;
    }
    in.take('\n');
    ++all_lines;
    nonempty_lines += line_length > 0;
    count += line_length;
    if (line_length > 0 && line_lengths.size() < max_lines) line_lengths.push_back(line_length);
  }
  has_more = part.size() < text.size();
  if (!has_more) total = count;
}

bool TextLayout::has_metis_header() const {
  if (line_lengths.empty() || line_lengths[0] < 2 || line_lengths[0] > 4 || !first_line_is_integral ||
      first_numbers[0] < 1)
    return false;
  const double flags = line_lengths[0] < 3 ? 0 : first_numbers[2];
  const bool known_flags = flags <= 111 && std::fmod(flags, 10) <= 1 && std::fmod(std::floor(flags / 10), 10) <= 1;
  return known_flags && (line_lengths[0] < 4 || first_numbers[3] >= 1);
}

bool TextLayout::matches_metis_header() const {
  const auto [vertices, edges, flags, weights] = first_numbers;
  if (static_cast<double>(nonempty_lines) - 1 > vertices) return false;
  if (!total) return true;
  const double vertex_weights = std::fmod(std::floor(flags / 10), 10) * (line_lengths[0] < 4 ? 1 : weights);
  const double for_vertices = vertices * (std::floor(flags / 100) + vertex_weights);
  const double for_edges = 2 * edges * (1 + std::fmod(flags, 10));
  return static_cast<double>(all_lines) >= vertices &&
         static_cast<double>(*total - line_lengths[0]) == for_vertices + for_edges;
}

bool TextLayout::is_square() const {
  const std::size_t n = line_lengths.empty() ? 0 : line_lengths[0];
  return total && nonempty_lines == n && *total == n * n &&
         std::all_of(line_lengths.begin(), line_lengths.end(), [n](std::size_t k) { return k == n; });
}

bool TextLayout::has_pair_rows() const {
  const std::size_t k = line_lengths.empty() ? 0 : line_lengths[0];
  return (k == 3 || k == 4 || k == 6) && line_starts_are_integral && line_lengths.size() > k &&
         std::all_of(line_lengths.begin(), line_lengths.end(), [k](std::size_t other) { return other == k; });
}

}  // namespace rankloom
