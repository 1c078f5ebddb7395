// SPDX-License-Identifier: Apache-2.0
// allocate/search: the closed minimum subgraphs of Zhang 2014: the smallest diameter for n nodes and the template, the
// shape that has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace rankloom {

/// ⌈√n⌉, exactly.
inline std::uint32_t ceil_sqrt(std::uint32_t n) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  while (root * root > n) --root;
  while (root * root < n) ++root;
  return static_cast<std::uint32_t>(root);
}

/// Columns and rows of the template for n nodes of a 2D mesh: ⌈√n⌉ × ⌈n / ⌈√n⌉⌉.
inline std::pair<std::uint32_t, std::uint32_t> mesh_template(std::uint32_t n) {
  const std::uint32_t side = std::max(1U, ceil_sqrt(n));
  return {side, std::max(1U, (n + side - 1) / side)};
}

/// Theorem 3: the smallest diameter of a rectangle with n nodes.
inline std::uint32_t mesh_min_diameter(std::uint32_t n) {
  const auto [columns, rows] = mesh_template(n);
  return columns + rows - 2;
}

/// ⌈log_k n⌉, exactly; k of 2 or more.
inline std::uint32_t ceil_log(std::uint32_t k, std::uint32_t n) {
  std::uint32_t power = 0;
  for (std::uint64_t reach = 1; reach < n; reach *= k) ++power;
  return power;
}

/// Theorem 5: the smallest diameter of n leaves of a k-ary tree.
inline std::uint32_t tree_min_diameter(std::uint32_t k, std::uint32_t n) {
  return 2 * ceil_log(k, n);
}

/// The number of levels of the template of a k-ary tree, including the leaves.
inline std::uint32_t tree_template_levels(std::uint32_t k, std::uint32_t n) {
  return ceil_log(k, n) + 1;
}

}  // namespace rankloom
