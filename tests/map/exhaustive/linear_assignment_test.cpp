// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/exhaustive/linear_assignment.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

/// Brute force over all assignments; a forced row gets its forced column.
double optimum(const std::vector<double>& cost, std::size_t rows, std::size_t columns, std::size_t forced_row,
               std::size_t forced_column) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double lowest = 1e300;
  do {
    if (forced_row < rows && order[forced_row] != forced_column) continue;
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += cost[row * columns + order[row]];
    lowest = std::min(lowest, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return lowest;
}

TEST(LinearAssignment, IsOptimalAndItsReducedCostsBoundEveryForcedChoice) {
  Random random(1);
  LinearAssignment assignment;
  for (int instance = 0; instance < 60; ++instance) {
    const std::size_t rows = 1 + random.below(5);
    const std::size_t columns = rows + random.below(7 - rows);
    std::vector<double> cost(rows * columns);
    for (double& entry : cost) entry = static_cast<double>(random.below(50)) - 20;
    EXPECT_NEAR(assignment.solve(cost, rows, columns), optimum(cost, rows, columns, rows, 0), 1e-9);
    const double lowest = assignment.solve(cost, rows, columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        EXPECT_GE(assignment.reduced_cost(row, column), -1e-9);
        EXPECT_LE(lowest + assignment.reduced_cost(row, column), optimum(cost, rows, columns, row, column) + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace rankloom
