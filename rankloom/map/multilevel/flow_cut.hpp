// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the cheapest cut inside a band around a cut, by a maximum flow through it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// A network of vertices between a source and a sink. Vertex 0 is the source, 1 the sink.
class FlowNetwork {
 public:
  static constexpr std::uint32_t source = 0;
  static constexpr std::uint32_t sink = 1;

  void clear(std::uint32_t vertices);
  /// What may flow either way.
  void connect(std::uint32_t a, std::uint32_t b, double capacity) { links_.push_back({a, b, capacity}); }
  /// The largest flow, which is the least cut (Dinic 1970).
  double run();
  /// After run(): the vertices that the source still reaches, or those that do not reach the sink.
  std::vector<std::uint8_t> source_side(bool largest) const;

 private:
  struct Link {
    std::uint32_t a, b;
    double capacity;
  };
  struct Arc {
    std::uint32_t to, back;
    double rest;
  };
  void build();
  bool find_levels();
  double push();
  bool open(double rest) const { return rest > least_; }

  std::vector<Link> links_;
  std::vector<std::uint32_t> first_, current_, level_, queue_;
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> path_;
  std::uint32_t vertices_ = 0;
  double least_ = 0;  // less is rounding
};

/// Looks for better cuts between two sides of a graph. Keeps its memory between calls.
class FlowCut {
 public:
  explicit FlowCut(std::uint32_t vertices) : local_(vertices, outside) {}

  struct Outcome {
    double gain = 0;
    std::vector<std::uint32_t> to_side[2];  ///< Who changes to this side.
  };

  /// side(v) is 0, 1, or more for vertices of no concern. `border` is everybody with a neighbour on the other side.
  /// The band reaches from there so far into side s that it holds at most depth[s]. shift: how much side 0 may grow and
  /// shrink by. The best cut of the band that keeps to it; no gain: none.
  template <class Side>
  Outcome search(const WeightedGraph& graph, const Side& side, const std::vector<std::uint32_t>& border,
                 std::array<std::uint64_t, 2> depth, std::int64_t most_growth, std::int64_t most_loss) {
    Outcome outcome;
    band_.clear();
    std::array<std::uint64_t, 2> held{};
    for (const std::uint32_t vertex : border) enter(vertex, side(vertex), graph, held);
    if (held[0] <= depth[0] && held[1] <= depth[1]) {
      for (std::size_t at = 0; at < band_.size(); ++at) {
        for (const Edge edge : graph.edges(band_[at])) {
          const auto s = side(edge.to);
          if (s > 1 || local_[edge.to] != outside || s != side(band_[at])) continue;
          if (held[s] + graph.size(edge.to) <= depth[s]) enter(edge.to, s, graph, held);
        }
      }
      const double now = connect(graph, side);
      const double least = network_.run();
      if (least < now * (1 - 1e-7)) take_feasible(graph, side, now - least, most_growth, most_loss, outcome);
    }
    for (const std::uint32_t vertex : band_) local_[vertex] = outside;
    return outcome;
  }

 private:
  static constexpr std::uint32_t outside = ~0U;

  template <class S>
  void enter(std::uint32_t vertex, S side, const WeightedGraph& graph, std::array<std::uint64_t, 2>& held) {
    local_[vertex] = static_cast<std::uint32_t>(band_.size());
    band_.push_back(vertex);
    held[side] += graph.size(vertex);
  }

  /// The band as a network; returns what is cut in it now.
  template <class Side>
  double connect(const WeightedGraph& graph, const Side& side) {
    network_.clear(static_cast<std::uint32_t>(band_.size() + 2));
    double now = 0;
    for (std::uint32_t at = 0; at < band_.size(); ++at) {
      double ends[2] = {0, 0};
      for (const Edge edge : graph.edges(band_[at])) {
        const auto s = side(edge.to);
        if (s > 1) continue;
        if (local_[edge.to] == outside) {
          ends[s] += edge.weight;
          if (s != side(band_[at])) now += edge.weight;
        } else if (local_[edge.to] > at) {
          network_.connect(at + 2, local_[edge.to] + 2, edge.weight);
          if (s != side(band_[at])) now += edge.weight;
        }
      }
      if (ends[0] > 0) network_.connect(FlowNetwork::source, at + 2, ends[0]);
      if (ends[1] > 0) network_.connect(at + 2, FlowNetwork::sink, ends[1]);
    }
    return now;
  }

  template <class Side>
  void take_feasible(const WeightedGraph& graph, const Side& side, double gain, std::int64_t most_growth,
                     std::int64_t most_loss, Outcome& outcome) {
    for (const bool largest : {false, true}) {
      const auto at_source = network_.source_side(largest);
      std::int64_t growth = 0;
      Outcome one;
      for (std::uint32_t at = 0; at < band_.size(); ++at) {
        const int to = at_source[at + 2] != 0 ? 0 : 1;
        if (to == static_cast<int>(side(band_[at]))) continue;
        growth += to == 0 ? std::int64_t{graph.size(band_[at])} : -std::int64_t{graph.size(band_[at])};
        one.to_side[to].push_back(band_[at]);
      }
      if (growth > most_growth || -growth > most_loss) continue;
      one.gain = gain;
      outcome = std::move(one);
      return;
    }
  }

  std::vector<std::uint32_t> local_;  // of each vertex, its place in the band
  std::vector<std::uint32_t> band_;
  FlowNetwork network_;
};

}  // namespace rankloom::multilevel
