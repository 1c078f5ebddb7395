// SPDX-License-Identifier: Apache-2.0
// bench/auto: a Delaunay triangulation of points in the plane.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace rankloom::bench {

struct Point {
  double x, y;
};

/// The edges of the triangulation, each once. Divide and conquer (Guibas, Stolfi 1985), O(n log n). The predicates use
/// long double without an exact fallback, which suffices for random points. The points must be distinct.
std::vector<std::pair<std::uint32_t, std::uint32_t>> delaunay_edges(const std::vector<Point>& points);

/// The points of numpy.random.default_rng(seed).random((n, 2)), from which the published mesh was made: PCG64 (O'Neill
/// 2014) seeded by numpy's SeedSequence.
std::vector<Point> numpy_points(std::uint32_t count, std::uint32_t seed);

}  // namespace rankloom::bench
