// SPDX-License-Identifier: Apache-2.0
// core/text: the hint for an unknown word.
#include "rankloom/core/text/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankloom {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

std::string suggest(std::string_view word, const std::vector<std::string_view>& known) {
  std::vector<std::string_view> similar;
  std::size_t min_distance = std::string_view::npos;
  for (const std::string_view candidate : known) {
    const bool is_prefix = word.size() > 1 && candidate.starts_with(word);
    const std::size_t distance = is_prefix ? 0 : edit_distance(word, candidate);
    if (distance > 1 + candidate.size() / 3 || distance > min_distance) continue;
    if (distance < min_distance) similar.clear();
    min_distance = distance;
    similar.push_back(candidate);
  }
  if (similar.empty() || similar.size() > 3) return fmt::format("one of: {}", fmt::join(known, ", "));
  return fmt::format("did you mean {}?", fmt::join(similar, " or "));
}

}  // namespace rankloom
