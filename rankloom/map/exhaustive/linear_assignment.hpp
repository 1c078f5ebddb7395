// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the linear assignment problem, which the bound of the quadratic one is made of.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rankloom {

/// Gives every row its own column at the least total cost; there are at least as many columns as rows. Shortest
/// augmenting paths (Kuhn 1955, Munkres 1957): O(rows² x columns). The object keeps its memory for the next call.
class Assignment {
 public:
  /// cost[row * columns + column]. Returns the least total.
  double solve(std::span<const double> cost, std::size_t rows, std::size_t columns);

  /// What the total rises by, at least, when the row is forced onto the column; never negative but for rounding.
  double reduced_cost(std::size_t row, std::size_t column) const {
    return cost_[row * columns_ + column] - row_price_[row + 1] - column_price_[column + 1];
  }

 private:
  std::span<const double> cost_;
  std::size_t columns_ = 0;
  // All with a place 0 that stands for "none", as the augmenting path begins outside the table.
  std::vector<double> row_price_, column_price_, slack_;
  std::vector<std::size_t> row_of_, came_from_;
  std::vector<bool> visited_;
};

}  // namespace rankloom
