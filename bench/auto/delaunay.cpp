// SPDX-License-Identifier: Apache-2.0
// bench/auto: a Delaunay triangulation of points in the plane.
#include "bench/auto/delaunay.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace rankloom::bench {
namespace {

/// The number of a directed edge; the reverse edge differs in the last bit. Only the primal half of the quad-edge
/// structure is stored: a doubly linked ring of edges around each origin.
using Edge = std::uint32_t;
constexpr Edge sym(Edge edge) {
  return edge ^ 1;
}

class Triangulation {
 public:
  explicit Triangulation(const std::vector<Point>& points) : points_(points), order_(points.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(points[a].x, points[a].y) < std::pair(points[b].x, points[b].y);
    });
    ring_.reserve(6 * points.size());
    if (points.size() > 1) build(0, points.size());
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (Edge edge = 0; edge < ring_.size(); edge += 2) {
      if (!ring_[edge].removed) list.emplace_back(origin(edge), origin(sym(edge)));
    }
    return list;
  }

 private:
  struct Entry {
    std::uint32_t origin;
    Edge next, before;  ///< Around the origin, counter-clockwise and clockwise.
    bool removed = false;
  };
  struct Hull {
    Edge left, right;  ///< Counter-clockwise out of the leftmost point, clockwise out of the rightmost.
  };

  std::uint32_t origin(Edge edge) const { return ring_[edge].origin; }
  std::uint32_t target(Edge edge) const { return ring_[sym(edge)].origin; }
  Edge onext(Edge edge) const { return ring_[edge].next; }
  Edge oprev(Edge edge) const { return ring_[edge].before; }
  Edge lnext(Edge edge) const { return oprev(sym(edge)); }
  Edge rprev(Edge edge) const { return onext(sym(edge)); }

  Edge make(std::uint32_t from, std::uint32_t to) {
    const auto edge = static_cast<Edge>(ring_.size());
    ring_.push_back({from, edge, edge});
    ring_.push_back({to, sym(edge), sym(edge)});
    return edge;
  }
  /// Inserts an isolated edge after another one in the ring of their common origin.
  void insert_after(Edge edge, Edge before) {
    const Edge after = onext(before);
    ring_[before].next = edge, ring_[edge].before = before;
    ring_[edge].next = after, ring_[after].before = edge;
  }
  /// Adds an edge from the target of a to the origin of b, on the left of both.
  Edge connect(Edge a, Edge b) {
    const Edge edge = make(target(a), origin(b));
    insert_after(edge, lnext(a));
    insert_after(sym(edge), b);
    return edge;
  }
  void remove(Edge edge) {
    for (const Edge side : {edge, sym(edge)}) {
      ring_[oprev(side)].next = onext(side), ring_[onext(side)].before = oprev(side);
      ring_[side].removed = true;
    }
  }

  /// Twice the signed area of the triangle; positive if its vertices are in counter-clockwise order.
  long double area(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const long double cx = points_[c].x, cy = points_[c].y;
    return (points_[a].x - cx) * (points_[b].y - cy) - (points_[a].y - cy) * (points_[b].x - cx);
  }
  bool left_of(std::uint32_t point, Edge edge) const { return area(point, origin(edge), target(edge)) > 0; }
  bool right_of(std::uint32_t point, Edge edge) const { return area(point, target(edge), origin(edge)) > 0; }
  /// d lies inside the circle through a, b, c, which are in counter-clockwise order.
  bool in_circle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const {
    const long double dx = points_[d].x, dy = points_[d].y;
    const long double ax = points_[a].x - dx, ay = points_[a].y - dy, bx = points_[b].x - dx, by = points_[b].y - dy,
                      cx = points_[c].x - dx, cy = points_[c].y - dy;
    return (ax * ax + ay * ay) * (bx * cy - by * cx) - (bx * bx + by * by) * (ax * cy - ay * cx) +
               (cx * cx + cy * cy) * (ax * by - ay * bx) >
           0;
  }

  Hull build(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    if (count == 2) {
      const Edge edge = make(order_[begin], order_[begin + 1]);
      return {edge, sym(edge)};
    }
    if (count == 3) return build_three(begin);
    const std::size_t middle = begin + count / 2;
    return merge(build(begin, middle), build(middle, end));
  }

  Hull build_three(std::size_t begin) {
    const Edge a = make(order_[begin], order_[begin + 1]);
    const Edge b = make(order_[begin + 1], order_[begin + 2]);
    insert_after(b, sym(a));
    const long double turn = area(order_[begin], order_[begin + 1], order_[begin + 2]);
    if (turn > 0) {
      connect(b, a);
      return {a, sym(b)};
    }
    if (turn < 0) {
      const Edge c = connect(b, a);
      return {sym(c), c};
    }
    return {a, sym(b)};
  }

  Hull merge(Hull left, Hull right) {
    Edge ldi = left.right, rdi = right.left;
    for (;;) {  // down to the lower common tangent
      if (left_of(origin(rdi), ldi)) {
        ldi = lnext(ldi);
      } else if (right_of(origin(ldi), rdi)) {
        rdi = rprev(rdi);
      } else {
        break;
      }
    }
    Edge base = connect(sym(rdi), ldi);
    if (origin(ldi) == origin(left.left)) left.left = sym(base);
    if (origin(rdi) == origin(right.right)) right.right = base;
    const auto above = [&](Edge edge) { return right_of(target(edge), base); };
    for (;;) {
      Edge lcand = onext(sym(base));
      if (above(lcand)) {
        while (in_circle(target(base), origin(base), target(lcand), target(onext(lcand)))) {
          const Edge next = onext(lcand);
          remove(lcand);
          lcand = next;
        }
      }
      Edge rcand = oprev(base);
      if (above(rcand)) {
        while (in_circle(target(base), origin(base), target(rcand), target(oprev(rcand)))) {
          const Edge next = oprev(rcand);
          remove(rcand);
          rcand = next;
        }
      }
      const bool on_left = above(lcand), on_right = above(rcand);
      if (!on_left && !on_right) return {left.left, right.right};
      if (!on_left || (on_right && in_circle(target(lcand), origin(lcand), origin(rcand), target(rcand)))) {
        base = connect(rcand, sym(base));
      } else {
        base = connect(sym(base), sym(lcand));
      }
    }
  }

  const std::vector<Point>& points_;
  std::vector<std::uint32_t> order_;
  std::vector<Entry> ring_;
};

/// numpy's generator: SeedSequence mixes the words of the seed into a pool of four, which gives state and stream of
/// PCG64.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) {
    std::array<std::uint32_t, 4> pool{seed, 0, 0, 0};
    std::uint32_t key = 0x43b0d7e5;
    for (std::uint32_t& word : pool) word = stir(word, key, 0x931e8875);
    for (std::size_t from = 0; from < pool.size(); ++from) {
      for (std::size_t to = 0; to < pool.size(); ++to) {
        if (from == to) continue;
        const std::uint32_t mixed = 0xca01f9ddU * pool[to] - 0x4973f715U * stir(pool[from], key, 0x931e8875);
        pool[to] = mixed ^ mixed >> 16;
      }
    }
    std::array<std::uint64_t, 4> words{};
    key = 0x8b51f9dd;
    for (std::size_t at = 0; at < 8; ++at) {
      words[at / 2] |= std::uint64_t{stir(pool[at % 4], key, 0x58f38ded)} << 32 * (at % 2);
    }
    increment_ = wide(words[2], words[3]) << 1 | 1;
    step();
    state_ += wide(words[0], words[1]);
    step();
  }

  double unit() {
    step();
    const auto high = static_cast<std::uint64_t>(state_ >> 64), low = static_cast<std::uint64_t>(state_);
    const std::uint64_t drawn = std::rotr(high ^ low, static_cast<int>(high >> 58));
    return static_cast<double>(drawn >> 11) * 0x1p-53;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static Wide wide(std::uint64_t high, std::uint64_t low) { return Wide{high} << 64 | low; }
  static std::uint32_t stir(std::uint32_t word, std::uint32_t& key, std::uint32_t factor) {
    word ^= key;
    key *= factor;
    word *= key;
    return word ^ word >> 16;
  }
  void step() { state_ = state_ * wide(0x2360ed051fc65da4, 0x4385df649fccf645) + increment_; }

  Wide state_ = 0, increment_ = 0;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> delaunay_edges(const std::vector<Point>& points) {
  return Triangulation(points).edges();
}

std::vector<Point> numpy_points(std::uint32_t count, std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<Point> points(count);
  for (Point& point : points) point.x = random.unit(), point.y = random.unit();
  return points;
}

}  // namespace rankloom::bench
