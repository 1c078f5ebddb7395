// SPDX-License-Identifier: Apache-2.0
// allocate/search: free nodes that are close to each other.
#include "rankloom/allocate/search/nearest.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace rankloom {

namespace {

/// Counts the free nodes in any square of the mesh rotated by 45 degrees: u = x + y, v = x - y + height - 1. Uses a
/// summed-area table.
class RotatedMesh {
 public:
  RotatedMesh(std::uint32_t width, std::uint32_t height, const Bitset& free)
      : width_(width), height_(height), side_(width + height - 1), sums_(std::size_t{side_ + 1} * (side_ + 1)) {
    free.for_each([&](std::uint32_t node) { ++at(u(node) + 1, v(node) + 1); });
    for (std::uint32_t i = 1; i <= side_; ++i) {
      for (std::uint32_t j = 1; j <= side_; ++j) at(i, j) += at(i - 1, j) + at(i, j - 1) - at(i - 1, j - 1);
    }
  }

  std::uint32_t side() const { return side_; }
  std::uint32_t u(std::uint32_t node) const { return node % width_ + node / width_; }
  std::uint32_t v(std::uint32_t node) const { return node % width_ + height_ - 1 - node / width_; }
  /// Free nodes in the square of side `diameter` with this lowest corner.
  std::uint32_t count(std::uint32_t from_u, std::uint32_t from_v, std::uint32_t diameter) const {
    const std::uint32_t to_u = std::min(side_, from_u + diameter + 1), to_v = std::min(side_, from_v + diameter + 1);
    return at(to_u, to_v) - at(from_u, to_v) - at(to_u, from_v) + at(from_u, from_v);
  }

 private:
  std::uint32_t& at(std::uint32_t i, std::uint32_t j) { return sums_[std::size_t{i} * (side_ + 1) + j]; }
  std::uint32_t at(std::uint32_t i, std::uint32_t j) const { return sums_[std::size_t{i} * (side_ + 1) + j]; }
  std::uint32_t width_, height_, side_;
  std::vector<std::uint32_t> sums_;  // number of free nodes with u < i and v < j
};

struct Square {
  std::uint32_t u = 0, v = 0, count = 0;
};

/// Of the squares of this side with at least n free nodes, the one with the fewest.
Square smallest_sufficient_square(const RotatedMesh& mesh, std::uint32_t diameter, std::uint32_t nodes) {
  Square best;
  for (std::uint32_t u = 0; u < mesh.side(); ++u) {
    for (std::uint32_t v = 0; v < mesh.side(); ++v) {
      const std::uint32_t count = mesh.count(u, v, diameter);
      if (count >= nodes && (best.count == 0 || count < best.count)) best = {u, v, count};
    }
  }
  return best;
}

}  // namespace

std::vector<Node> nearest_in_2d_mesh(std::uint32_t width, std::uint32_t height, const Bitset& free,
                                     std::uint32_t nodes) {
  const RotatedMesh mesh(width, height, free);
  std::uint32_t low = 0, high = width + height - 2;  // the smallest diameter is in low..high
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (smallest_sufficient_square(mesh, middle, nodes).count > 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const Square square = smallest_sufficient_square(mesh, low, nodes);
  std::vector<Node> chosen;
  free.for_each([&](std::uint32_t node) {
    const std::uint32_t u = mesh.u(node), v = mesh.v(node);
    const bool inside = u >= square.u && u <= square.u + low && v >= square.v && v <= square.v + low;
    if (inside && chosen.size() < nodes) chosen.push_back(Node{node});
  });
  return chosen;
}

std::vector<Node> nearest_around_centre(const Network& network, const Bitset& free, std::uint32_t nodes) {
  std::vector<Node> all;
  free.for_each([&](std::uint32_t node) { all.push_back(Node{node}); });
  std::vector<std::uint32_t> within(std::size_t{network.diameter()} + 2);
  std::uint32_t best_radius = std::numeric_limits<std::uint32_t>::max();
  Node centre{0};
  for (const Node seed : all) {
    std::fill(within.begin(), within.end(), 0);
    for (const Node node : all) ++within[network.hops(seed, node)];
    std::uint32_t radius = 0, sum = within[0];
    while (sum < nodes) sum += within[++radius];
    if (radius >= best_radius) continue;
    best_radius = radius;
    centre = seed;
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](Node a, Node b) { return network.hops(centre, a) < network.hops(centre, b); });
  all.resize(nodes);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace rankloom
