// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the linear assignment problem.
#include "rankloom/map/exhaustive/linear_assignment.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace rankloom {

double LinearAssignment::solve(std::span<const double> cost, std::size_t rows, std::size_t columns) {
  assert(rows <= columns && cost.size() >= rows * columns);
  cost_ = cost;
  columns_ = columns;
  row_potential_.assign(rows + 1, 0);
  column_potential_.assign(columns + 1, 0);
  row_of_.assign(columns + 1, 0);
  predecessor_.assign(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    // Grow a tree of tight pairs from the new row until it reaches a free column.
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
        const double reduced =
            cost[(from - 1) * columns + column - 1] - row_potential_[from] - column_potential_[column];
        if (reduced < slack_[column]) {
          slack_[column] = reduced;
          predecessor_[column] = at;
        }
        if (slack_[column] < step) {
          step = slack_[column];
          nearest = column;
        }
      }
      for (std::size_t column = 0; column <= columns; ++column) {
        if (visited_[column]) {
          row_potential_[row_of_[column]] += step;
          column_potential_[column] -= step;
        } else {
          slack_[column] -= step;
        }
      }
      at = nearest;
    } while (row_of_[at] != 0);
    for (; at != 0; at = predecessor_[at]) row_of_[at] = row_of_[predecessor_[at]];
  }
  return -column_potential_[0];
}

}  // namespace rankloom
