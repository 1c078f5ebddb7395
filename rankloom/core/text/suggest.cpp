// SPDX-License-Identifier: Apache-2.0
// core: the hint for a word that is not known.
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
  std::vector<std::string_view> near;
  std::size_t nearest = std::string_view::npos;
  for (const std::string_view candidate : known) {
    const bool begins = word.size() > 1 && candidate.starts_with(word);
    const std::size_t distance = begins ? 0 : edit_distance(word, candidate);
    if (distance > 1 + candidate.size() / 3 || distance > nearest) continue;
    if (distance < nearest) near.clear();
    nearest = distance;
    near.push_back(candidate);
  }
  if (near.empty() || near.size() > 3) return fmt::format("one of: {}", fmt::join(known, ", "));
  return fmt::format("did you mean {}?", fmt::join(near, " or "));
}

}  // namespace rankloom
