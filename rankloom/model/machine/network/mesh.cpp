// SPDX-License-Identifier: Apache-2.0
// model/machine/network: meshes and tori; a node and its router are one vertex.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/model/machine/network/divider.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

/// One dimension, prepared for routing. Cable i of a row of nodes connects positions i and i + 1; the last cable of a
/// ring connects the last position with position 0.
struct Dimension {
  Divider size;
  std::uint32_t stride;      // between adjacent nodes of a row
  std::uint32_t cables;      // per row
  std::uint32_t first_link;  // two links per cable: positive, negative direction
  std::uint32_t wrap;        // torus: size; mesh: larger than any distance, so that no route wraps around
};

class Mesh final : public Network {
 public:
  Mesh(MeshShape shape, std::vector<Dimension> dimensions, std::uint32_t nodes, std::uint32_t links, Cost per_hop)
      : shape_(std::move(shape)), dimensions_(std::move(dimensions)), nodes_(nodes), links_(links), per_hop_(per_hop) {}

  std::uint32_t node_count() const override { return nodes_; }
  std::uint32_t vertex_count() const override { return nodes_; }
  std::uint32_t link_count() const override { return links_; }

  std::uint32_t hops(Node from, Node to) const override {
    std::uint32_t a = index(from), b = index(to), sum = 0;
    for (const Dimension& dimension : dimensions_) {
      const std::uint32_t size = dimension.size.divisor();
      const std::uint32_t next_a = dimension.size.quotient(a), next_b = dimension.size.quotient(b);
      const std::uint32_t x = a - next_a * size, y = b - next_b * size;
      const auto distance = static_cast<std::uint32_t>(std::abs(static_cast<std::int64_t>(x) - y));  // without a branch
      sum += std::min(distance, dimension.wrap - distance);
      a = next_a;
      b = next_b;
    }
    return sum;
  }

  void route(Node from, Node to, std::vector<Link>& links) const override {
    std::uint32_t a = index(from), b = index(to);  // the remaining dimensions of both node numbers
    std::uint32_t low = 0;                         // the coordinates of the finished dimensions
    for (const Dimension& dimension : dimensions_) {
      const std::uint32_t size = dimension.size.divisor();
      const std::uint32_t next_a = dimension.size.quotient(a), next_b = dimension.size.quotient(b);
      const std::uint32_t x = a - next_a * size, y = b - next_b * size;
      const std::uint32_t row = next_a * dimension.cables * dimension.stride + low;
      append_row(dimension, row, x, y, links);
      low += y * dimension.stride;
      a = next_a;
      b = next_b;
    }
  }

  std::pair<Vertex, Vertex> endpoints(Link link) const override {
    std::size_t at = dimensions_.size() - 1;
    while (at > 0 && index(link) < dimensions_[at].first_link) --at;
    const Dimension& dimension = dimensions_[at];
    const std::uint32_t size = dimension.size.divisor();
    const std::uint32_t number = index(link) - dimension.first_link;
    const std::uint32_t cable = number / 2;
    const std::uint32_t low = cable % dimension.stride;
    const std::uint32_t position = cable / dimension.stride % dimension.cables;
    const std::uint32_t high = cable / dimension.stride / dimension.cables;
    const Vertex here{(high * size + position) * dimension.stride + low};
    const Vertex next{(high * size + (position + 1) % size) * dimension.stride + low};
    return number % 2 == 0 ? std::pair(here, next) : std::pair(next, here);
  }

  Cost per_hop() const override { return per_hop_; }

  std::uint32_t diameter() const override {
    std::uint32_t sum = 0;
    for (const Dimension& dimension : dimensions_) {
      const std::uint32_t size = dimension.size.divisor();
      sum += std::get<MeshShape>(shape_).torus ? size / 2 : size - 1;
    }
    return sum;
  }

  std::string text() const override {
    const auto& [sizes, torus] = std::get<MeshShape>(shape_);
    return fmt::format("{}:{}{}", torus ? "torus" : "mesh", fmt::join(sizes, "x"), cost_text(per_hop_));
  }
  const NetworkShape& shape() const override { return shape_; }

 private:
  /// The links of a row from position x to position y.
  static void append_row(const Dimension& dimension, std::uint32_t row, std::uint32_t x, std::uint32_t y,
                         std::vector<Link>& links) {
    const std::uint32_t size = dimension.size.divisor();
    const bool ring = dimension.cables == size;
    const std::uint32_t steps_up = x <= y ? y - x : y + (size - x);
    const bool positive = ring ? steps_up <= size - steps_up : x <= y;
    while (x != y) {
      const std::uint32_t cable = positive ? x : (x == 0 ? size : x) - 1;
      links.push_back(Link{dimension.first_link + 2 * (row + cable * dimension.stride) + (positive ? 0 : 1)});
      x = positive ? (x + 1 == size ? 0 : x + 1) : cable;
    }
  }

  NetworkShape shape_;
  std::vector<Dimension> dimensions_;  // in reverse order, without those of size 1
  std::uint32_t nodes_;
  std::uint32_t links_;
  Cost per_hop_;
};

}  // namespace

std::vector<std::uint32_t> MeshShape::coordinates(Node node) const {
  std::vector<std::uint32_t> coordinates(sizes.size());
  std::uint32_t rest = index(node);
  for (std::size_t dimension = sizes.size(); dimension-- > 0; rest /= sizes[dimension])
    coordinates[dimension] = rest % sizes[dimension];
  return coordinates;
}

Result<NetworkPtr> make_mesh(std::vector<std::uint32_t> sizes, bool torus, Cost per_hop) {
  const std::string kind = torus ? "torus" : "mesh";
  if (auto valid = check_sizes(kind, sizes); !valid) return propagate(valid);
  if (auto valid = check_cost(kind, per_hop); !valid) return propagate(valid);
  std::uint64_t nodes = 1;
  for (const std::uint32_t size : sizes) nodes = capped_product(nodes, size);
  if (auto valid = check_count(kind, nodes, "nodes"); !valid) return propagate(valid);

  std::vector<Dimension> dimensions;
  std::uint64_t links = 0, stride = 1;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    if (*size == 1) continue;
    const std::uint32_t cables = torus && *size > 2 ? *size : *size - 1;
    dimensions.push_back({Divider(*size), static_cast<std::uint32_t>(stride), cables, static_cast<std::uint32_t>(links),
                          torus ? *size : std::numeric_limits<std::uint32_t>::max()});
    links += 2 * (nodes / *size) * cables;
    if (auto valid = check_count(kind, links, "links"); !valid) return propagate(valid);
    stride *= *size;
  }
  return std::make_shared<Mesh>(MeshShape{std::move(sizes), torus}, std::move(dimensions),
                                static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(links), per_hop);
}

}  // namespace rankloom
