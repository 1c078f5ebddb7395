// SPDX-License-Identifier: Apache-2.0
// apps: the nearest known word to a mistyped one.
#include "apps/rankloom/suggest.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rankloom::app {

namespace {

/// Inserted, lost, changed or exchanged neighbouring letters (optimal string alignment).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, changed});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 100) return std::nullopt;
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::optional<std::string> best;
  std::size_t fewest = limit + 1;
  for (const std::string& candidate : known) {
    // Also the beginning of a longer word, if enough of it was typed.
    std::size_t distance = slips(word, candidate);
    for (std::size_t length = word.size(); word.size() >= 3 && length <= word.size() + 1; ++length) {
      distance = std::min(distance, 1 + slips(word, std::string_view(candidate).substr(0, length)));
    }
    if (distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known, std::string otherwise) {
  const auto near = nearest(word, known);
  return near ? fmt::format("did you mean '{}'?", *near) : std::move(otherwise);
}

}  // namespace rankloom::app
