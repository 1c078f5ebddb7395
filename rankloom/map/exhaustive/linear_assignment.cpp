// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the linear assignment problem.
#include "rankloom/map/exhaustive/linear_assignment.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace rankloom {

double Assignment::solve(std::span<const double> cost, std::size_t rows, std::size_t columns) {
  assert(rows <= columns && cost.size() >= rows * columns);
  cost_ = cost;
  columns_ = columns;
  row_price_.assign(rows + 1, 0);
  column_price_.assign(columns + 1, 0);
  row_of_.assign(columns + 1, 0);
  came_from_.assign(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    // Grow a tree of tight pairs from the new row until it meets a free column.
    row_of_[0] = row;
    std::size_t at = 0;
    slack_.assign(columns + 1, std::numeric_limits<double>::infinity());
    visited_.assign(columns + 1, false);
    do {
      visited_[at] = true;
      const std::size_t from = row_of_[at];
      std::size_t nearest = 0;
      double step = std::numeric_limits<double>::infinity();
      for (std::size_t column = 1; column <= columns; ++column) {
        if (visited_[column]) continue;
        const double reduced = cost[(from - 1) * columns + column - 1] - row_price_[from] - column_price_[column];
        if (reduced < slack_[column]) {
          slack_[column] = reduced;
          came_from_[column] = at;
        }
        if (slack_[column] < step) {
          step = slack_[column];
          nearest = column;
        }
      }
      for (std::size_t column = 0; column <= columns; ++column) {
        if (visited_[column]) {
          row_price_[row_of_[column]] += step;
          column_price_[column] -= step;
        } else {
          slack_[column] -= step;
        }
      }
      at = nearest;
    } while (row_of_[at] != 0);
    for (; at != 0; at = came_from_[at]) row_of_[at] = row_of_[came_from_[at]];
  }
  return -column_price_[0];
}

}  // namespace rankloom
