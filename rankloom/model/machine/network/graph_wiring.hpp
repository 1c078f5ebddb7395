// SPDX-License-Identifier: Apache-2.0
// model: the links of an arbitrary graph in compressed rows, and the search over them that its routing is made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "rankloom/model/machine/network/networks.hpp"

namespace rankloom {

/// One direction of a cable.
struct GraphLink {
  std::uint32_t from, to;
  Cost cost;
  /// The cost in whole units of 2^-40 of the dearest one or less: sums of them are exact, so that which of two routes
  /// is cheaper does not depend on the direction in which they are added up.
  std::uint64_t gap_units, latency_units;
};

class GraphWiring {
 public:
  static constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

  explicit GraphWiring(const GraphShape& shape) : nodes_(shape.nodes), nodes_forward_(shape.nodes_forward) {
    int gap_exponent = 0, latency_exponent = 0;
    double gap = 0, latency = 0;
    for (const GraphShape::Cable& cable : shape.cables) {
      gap = std::max(gap, cable.cost.gap);
      latency = std::max(latency, cable.cost.latency);
    }
    std::frexp(gap, &gap_exponent);
    std::frexp(latency, &latency_exponent);
    for (const auto& [a, b, cost, one_way] : shape.cables) {
      const auto gap_units = static_cast<std::uint64_t>(std::llround(std::ldexp(cost.gap, 40 - gap_exponent)));
      const auto latency_units =
          static_cast<std::uint64_t>(std::llround(std::ldexp(cost.latency, 40 - latency_exponent)));
      links_.push_back({index(a), index(b), cost, gap_units, latency_units});
      if (!one_way) links_.push_back({index(b), index(a), cost, gap_units, latency_units});
    }
    out_ = rows(shape.vertices, &GraphLink::from, &GraphLink::to);
    in_ = rows(shape.vertices, &GraphLink::to, &GraphLink::from);
  }

  std::span<const GraphLink> links() const { return links_; }
  std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(out_.first.size() - 1); }
  /// Numbers of the links that leave a vertex: by target, then the cheapest first.
  std::span<const std::uint32_t> out(std::uint32_t vertex) const { return out_.of(vertex); }
  std::span<const std::uint32_t> in(std::uint32_t vertex) const { return in_.of(vertex); }
  bool passes_on(std::uint32_t vertex) const { return nodes_forward_ || vertex >= nodes_; }

  enum class Direction : std::uint8_t { from_start, to_start };
  /// Hops between the start and every vertex, breadth first; `order` gets the vertices that were reached, nearest
  /// first.
  std::vector<std::uint32_t> distances(std::uint32_t start, Direction direction,
                                       std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> hops(vertex_count(), unreached);
    order.assign(1, start);
    hops[start] = 0;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::uint32_t v = order[at];
      if (v != start && !passes_on(v)) continue;
      for (const std::uint32_t link : direction == Direction::to_start ? in(v) : out(v)) {
        const std::uint32_t next = direction == Direction::to_start ? links_[link].from : links_[link].to;
        if (hops[next] != unreached) continue;
        hops[next] = hops[v] + 1;
        order.push_back(next);
      }
    }
    return hops;
  }

 private:
  struct Rows {
    std::vector<std::uint32_t> first, links;
    std::span<const std::uint32_t> of(std::uint32_t vertex) const {
      return std::span(links).subspan(first[vertex], first[vertex + 1] - first[vertex]);
    }
  };

  Rows rows(std::uint32_t vertices, std::uint32_t GraphLink::*owner, std::uint32_t GraphLink::*other) const {
    Rows result;
    result.first.resize(std::size_t{vertices} + 1);
    result.links.resize(links_.size());
    for (std::uint32_t link = 0; link < links_.size(); ++link) result.links[link] = link;
    const auto key = [&](std::uint32_t number) {
      const GraphLink& link = links_[number];
      return std::tuple(link.*owner, link.*other, link.gap_units, link.latency_units, number);
    };
    std::sort(result.links.begin(), result.links.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const GraphLink& link : links_) ++result.first[link.*owner + 1];
    for (std::size_t v = 0; v < vertices; ++v) result.first[v + 1] += result.first[v];
    return result;
  }

  std::uint32_t nodes_;
  bool nodes_forward_;
  std::vector<GraphLink> links_;
  Rows out_, in_;
};

}  // namespace rankloom
