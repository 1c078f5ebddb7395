// SPDX-License-Identifier: Apache-2.0
// capture: what a text of numbers looks like.
#include "rankloom/capture/import/shape.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/scanner.hpp"

namespace rankloom {

namespace {

constexpr std::size_t look_at = std::size_t{1} << 18;
constexpr std::size_t most_lines = 8;

bool is_whole(double number) {
  return number >= 0 && number == std::floor(number);
}

/// Whole lines from the beginning of the text; a first line that is longer is cut.
std::string_view beginning(std::string_view text) {
  if (text.size() <= look_at) return text;
  const std::size_t end = text.rfind('\n', look_at);
  return text.substr(0, end == text.npos ? look_at : end + 1);
}

}  // namespace

Shape::Shape(std::string_view text) {
  const std::string_view part = beginning(text);
  std::uint64_t count = 0;
  Scanner in(part);
  while (!in.done()) {
    in.skip_blanks();
    if (in.next_is('#') || in.next_is('%')) {
      in.skip_line();
      continue;
    }
    std::size_t in_line = 0;
    for (; !in.at_line_end(); in.skip_blanks()) {
      double number = 0;
      if (!in.take_number(number)) {
        goes_on = true;
        return;
      }
      if (words.empty() && in_line < first.size()) first[in_line] = number;
      if (words.empty() && !is_whole(number)) whole_first_line = false;
      if (in_line < 2 && !is_whole(number)) whole_starts = false;
      ++in_line;
    }
    in.take('\n');
    ++all_lines;
    full_lines += in_line > 0;
    count += in_line;
    if (in_line > 0 && words.size() < most_lines) words.push_back(in_line);
  }
  goes_on = part.size() < text.size();
  if (!goes_on) total = count;
}

bool Shape::metis_header() const {
  if (words.empty() || words[0] < 2 || words[0] > 4 || !whole_first_line || first[0] < 1) return false;
  const double flags = words[0] < 3 ? 0 : first[2];
  const bool known_flags = flags <= 111 && std::fmod(flags, 10) <= 1 && std::fmod(std::floor(flags / 10), 10) <= 1;
  return known_flags && (words[0] < 4 || first[3] >= 1);
}

bool Shape::metis_body() const {
  const auto [vertices, edges, flags, weights] = first;
  if (static_cast<double>(full_lines) - 1 > vertices) return false;
  if (!total) return true;
  const double vertex_weights = std::fmod(std::floor(flags / 10), 10) * (words[0] < 4 ? 1 : weights);
  const double for_vertices = vertices * (std::floor(flags / 100) + vertex_weights);
  const double for_edges = 2 * edges * (1 + std::fmod(flags, 10));
  return static_cast<double>(all_lines) >= vertices &&
         static_cast<double>(*total - words[0]) == for_vertices + for_edges;
}

bool Shape::square() const {
  const std::size_t n = words.empty() ? 0 : words[0];
  return total && full_lines == n && *total == n * n &&
         std::all_of(words.begin(), words.end(), [n](std::size_t k) { return k == n; });
}

bool Shape::pair_rows() const {
  const std::size_t k = words.empty() ? 0 : words[0];
  return (k == 3 || k == 4 || k == 6) && whole_starts && words.size() > k &&
         std::all_of(words.begin(), words.end(), [k](std::size_t other) { return other == k; });
}

}  // namespace rankloom
