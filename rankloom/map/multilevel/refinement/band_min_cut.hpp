// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: the minimum cut inside a band around the boundary of two blocks, by maximum flow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// A flow network. Vertex 0 is the source, vertex 1 the sink.
class FlowNetwork {
 public:
  static constexpr std::uint32_t source = 0;
  static constexpr std::uint32_t sink = 1;

  void clear(std::uint32_t vertices);
  /// Adds an edge with the same capacity in both directions.
  void connect(std::uint32_t a, std::uint32_t b, double capacity) { links_.push_back({a, b, capacity}); }
  /// The value of the maximum flow, which is that of the minimum cut (Dinic 1970).
  double run();
  /// After run(): the source side of a minimum cut. The smallest one contains the vertices that the source reaches in
  /// the residual network, the largest one all vertices that do not reach the sink.
  std::vector<std::uint8_t> source_side(bool largest) const;

 private:
  struct Link {
    std::uint32_t a, b;
    double capacity;
  };
  struct Arc {
    std::uint32_t to, reverse;
    double residual;
    double reverse_residual;  // that of the reverse arc, so that searches against the arcs read memory in order
  };
  void build();
  bool find_levels();
  double augment();
  bool is_open(double residual) const { return residual > tolerance_; }

  std::vector<Link> links_;
  std::vector<std::uint32_t> first_, current_, level_, queue_;
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> path_;
  std::uint32_t vertices_ = 0;
  double tolerance_ = 0;  // smaller residual capacities are rounding errors
};

/// Searches better cuts between two sides of a graph. Reuses its memory between calls.
class BandMinCut {
 public:
  explicit BandMinCut(std::uint32_t vertices) : position_(vertices, outside) {}

  struct Result {
    double gain = 0;                              ///< The reduction of the cut; 0: no better cut was found.
    bool is_minimum = false;                      ///< There is no better cut in the band, whatever the balance.
    std::vector<std::uint32_t> moves_to_side[2];  ///< Vertices that change to this side.
  };

  /// side(v) is 0 or 1, or more for vertices that take no part. `boundary` has all vertices with a neighbour on the
  /// other side. The band grows from the boundary into side s by breadth-first search, up to vertex weight
  /// max_band_weight[s]. Side 0 may grow by `max_growth` and shrink by `max_loss`. Returns the minimum cut of the band
  /// if it keeps these limits.
  template <class Side>
  Result search(const WeightedGraph& graph, const Side& side, const std::vector<std::uint32_t>& boundary,
                std::array<std::uint64_t, 2> max_band_weight, std::int64_t max_growth, std::int64_t max_loss) {
    Result result;
    band_.clear();
    std::array<std::uint64_t, 2> band_weight{};
    for (const std::uint32_t vertex : boundary) add_to_band(vertex, side(vertex), graph, band_weight);
    if (band_weight[0] <= max_band_weight[0] && band_weight[1] <= max_band_weight[1]) {
      for (std::size_t at = 0; at < band_.size(); ++at) {
        for (const Edge edge : graph.edges(band_[at])) {
          const auto s = side(edge.to);
          if (s > 1 || position_[edge.to] != outside || s != side(band_[at])) continue;
          if (band_weight[s] + graph.vertex_weight(edge.to) <= max_band_weight[s])
            add_to_band(edge.to, s, graph, band_weight);
        }
      }
      const double current_cut = build_network(graph, side);
      const double min_cut = network_.run();
      result.is_minimum = min_cut >= current_cut * (1 - 1e-7);
      if (!result.is_minimum) take_feasible(graph, side, current_cut - min_cut, max_growth, max_loss, result);
    }
    for (const std::uint32_t vertex : band_) position_[vertex] = outside;
    return result;
  }

 private:
  static constexpr std::uint32_t outside = ~0U;

  template <class S>
  void add_to_band(std::uint32_t vertex, S side, const WeightedGraph& graph,
                   std::array<std::uint64_t, 2>& band_weight) {
    position_[vertex] = static_cast<std::uint32_t>(band_.size());
    band_.push_back(vertex);
    band_weight[side] += graph.vertex_weight(vertex);
  }

  /// The band as a flow network: the rest of side 0 is the source, the rest of side 1 the sink. Returns the current
  /// cut inside the band.
  template <class Side>
  double build_network(const WeightedGraph& graph, const Side& side) {
    network_.clear(static_cast<std::uint32_t>(band_.size() + 2));
    double cut = 0;
    for (std::uint32_t at = 0; at < band_.size(); ++at) {
      double to_terminal[2] = {0, 0};
      for (const Edge edge : graph.edges(band_[at])) {
        const auto s = side(edge.to);
        if (s > 1) continue;
        if (position_[edge.to] == outside) {
          to_terminal[s] += edge.weight;
          if (s != side(band_[at])) cut += edge.weight;
        } else if (position_[edge.to] > at) {
          network_.connect(at + 2, position_[edge.to] + 2, edge.weight);
          if (s != side(band_[at])) cut += edge.weight;
        }
      }
      if (to_terminal[0] > 0) network_.connect(FlowNetwork::source, at + 2, to_terminal[0]);
      if (to_terminal[1] > 0) network_.connect(at + 2, FlowNetwork::sink, to_terminal[1]);
    }
    return cut;
  }

  /// Takes the minimum cut closest to the source, or the one closest to the sink, if it keeps the balance.
  template <class Side>
  void take_feasible(const WeightedGraph& graph, const Side& side, double gain, std::int64_t max_growth,
                     std::int64_t max_loss, Result& result) {
    for (const bool largest : {false, true}) {
      const auto at_source = network_.source_side(largest);
      std::int64_t growth = 0;
      Result candidate;
      for (std::uint32_t at = 0; at < band_.size(); ++at) {
        const int to = at_source[at + 2] != 0 ? 0 : 1;
        if (to == static_cast<int>(side(band_[at]))) continue;
        const std::int64_t weight = graph.vertex_weight(band_[at]);
        growth += to == 0 ? weight : -weight;
        candidate.moves_to_side[to].push_back(band_[at]);
      }
      if (growth > max_growth || -growth > max_loss) continue;
      candidate.gain = gain;
      result = std::move(candidate);
      return;
    }
  }

  Array<std::uint32_t> position_;  // of each vertex in the band
  std::vector<std::uint32_t> band_;
  FlowNetwork network_;
};

}  // namespace rankloom::multilevel
