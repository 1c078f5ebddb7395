// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the linear assignment problem (LAP), which the Gilmore-Lawler bound of the QAP consists of.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rankloom {

/// Assigns every row to a different column at the lowest total cost; there are at least as many columns as rows.
/// Shortest augmenting paths (Kuhn 1955, Munkres 1957): O(rows² x columns). The object keeps its memory for the next
/// call.
class LinearAssignment {
 public:
  /// cost[row * columns + column]. Returns the lowest total.
  double solve(std::span<const double> cost, std::size_t rows, std::size_t columns);

  /// A lower bound on the increase of the total when the row is forced onto the column; not negative, apart from
  /// rounding errors.
  double reduced_cost(std::size_t row, std::size_t column) const {
    return cost_[row * columns_ + column] - row_potential_[row + 1] - column_potential_[column + 1];
  }

 private:
  std::span<const double> cost_;
  std::size_t columns_ = 0;
  // Index 0 means "none" in all of them, because the augmenting path starts outside the matrix.
  std::vector<double> row_potential_, column_potential_, slack_;
  std::vector<std::size_t> row_of_, predecessor_;
  std::vector<bool> visited_;
};

}  // namespace rankloom
