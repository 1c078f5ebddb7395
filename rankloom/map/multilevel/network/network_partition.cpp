// SPDX-License-Identifier: Apache-2.0
// map/multilevel/network: dual recursive bisection and refinement under the distances of a network.
#include "rankloom/map/multilevel/network/network_partition.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "rankloom/core/random.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

namespace rankloom::multilevel {

NetworkHalves::NetworkHalves(const Topology& topology, std::vector<MachineTree::Part> parts)
    : blocks(std::move(parts)), halves{{0, static_cast<std::uint32_t>(blocks.size()), 0}} {
  for (std::size_t at = 0; at < halves.size(); ++at) {
    const auto [begin, end, left, right] = halves[at];
    if (end - begin == 1) continue;
    const auto middle =
        begin + static_cast<std::uint32_t>(split_by_locality(topology, std::span(blocks).subspan(begin, end - begin)));
    halves[at].left = static_cast<std::uint32_t>(halves.size());
    halves[at].right = halves[at].left + 1;
    halves.push_back({begin, middle, 0});
    halves.push_back({middle, end, 0});
  }
}

namespace {

using BlockWeights = std::span<const std::uint64_t>;
using Half = NetworkHalves::Half;

class DualBisection {
 public:
  DualBisection(const WeightedGraph& graph, const NetworkHalves& network, const BlockDistances& distances,
                BlockWeights max_block_weight, const PartitionOptions& options)
      : graph_(graph),
        network_(network),
        distances_(distances),
        max_block_weight_(max_block_weight),
        options_(options),
        half_of_(graph.vertex_count(), 0),
        pull_of_(network.halves.size(), not_computed) {}

  std::vector<std::uint32_t> run(std::uint64_t seed) {
    std::vector<std::pair<std::uint32_t, Subgraph>> level, next;  // halves and their vertices
    level.emplace_back(0, Subgraph{graph_, std::vector<std::uint32_t>(graph_.vertex_count())});
    std::iota(level.front().second.original.begin(), level.front().second.original.end(), 0U);
    for (; !level.empty(); std::swap(level, next)) {
      next.clear();
      for (auto& [half, vertices] : level) {
        if (network_.halves[half].is_block() || vertices.original.empty()) continue;
        auto [left, right] = bisect_half(half, vertices, mix(seed + half));
        vertices = {};
        next.emplace_back(network_.halves[half].left, std::move(left));
        next.emplace_back(network_.halves[half].right, std::move(right));
      }
    }
    std::vector<std::uint32_t> block_of(graph_.vertex_count());
    std::transform(half_of_.begin(), half_of_.end(), block_of.begin(),
                   [&](std::uint32_t half) { return network_.halves[half].begin; });
    return block_of;
  }

 private:
  static constexpr double not_computed = std::numeric_limits<double>::infinity();

  std::pair<Subgraph, Subgraph> bisect_half(std::uint32_t number, Subgraph& vertices, std::uint64_t seed) {
    const Half& half = network_.halves[number];
    const Half& left = network_.halves[half.left];
    const Half& right = network_.halves[half.right];
    const SideWeights weights = side_weights(max_block_weight_.subspan(left.begin, left.end - left.begin),
                                             max_block_weight_.subspan(right.begin, right.end - right.begin),
                                             vertices.graph.total_vertex_weight());
    std::vector<std::uint8_t> side_of;
    if (options_.deadline.passed()) {
      side_of = sides_in_order(vertices.graph, weights[0]);
    } else {
      set_pulls(number, left, right, vertices);
      side_of = bisect(vertices.graph, weights, options_.bisection, seed).side_of;
    }
    auto sides = side_subgraphs(vertices.graph, side_of);
    for (auto [side, to] : {std::pair(&sides.first, half.left), std::pair(&sides.second, half.right)}) {
      for (std::uint32_t& vertex : side->original) {
        vertex = vertices.original[vertex];
        half_of_[vertex] = to;
      }
    }
    return sides;
  }

  static std::vector<std::uint8_t> sides_in_order(const WeightedGraph& graph, std::uint64_t max_weight) {
    std::vector<std::uint8_t> side_of(graph.vertex_count(), 1);
    std::uint64_t weight = 0;
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
      weight += graph.vertex_weight(vertex);
      if (weight <= max_weight) side_of[vertex] = 0;
    }
    return side_of;
  }

  /// An edge between the two sides costs weight x (distance between the sides - distance inside a side). An edge to a
  /// vertex elsewhere costs weight x (distance to one side - distance to the other) more on one side.
  void set_pulls(std::uint32_t number, const Half& left, const Half& right, Subgraph& vertices) {
    const Samples to_left = samples_of(left), to_right = samples_of(right);
    const double cut_distance =
        mean_distance(to_left, to_right) - (mean_distance(to_left, to_left) + mean_distance(to_right, to_right)) / 2;
    if (vertices.original.size() == graph_.vertex_count() || !(cut_distance > 0)) return;
    Array<float> pulls(vertices.original.size(), 0);
    for (std::size_t at = 0; at < pulls.size(); ++at) {
      double pull = 0;
      for (const Edge edge : graph_.edges(vertices.original[at])) {
        const std::uint32_t other = half_of_[edge.to];
        if (other == number) continue;
        if (pull_of_[other] == not_computed) {
          const Samples outside = samples_of(network_.halves[other]);
          pull_of_[other] = (mean_distance(to_left, outside) - mean_distance(to_right, outside)) / cut_distance;
          pulling_.push_back(other);
        }
        pull += edge.weight * pull_of_[other];
      }
      pulls[at] = static_cast<float>(pull);
    }
    for (const std::uint32_t other : pulling_) pull_of_[other] = not_computed;
    pulling_.clear();
    vertices.graph.set_pulls(std::move(pulls));
  }

  /// A few blocks of a half, more of large halves, of which there are few.
  struct Samples {
    static constexpr std::uint32_t max_count = 16;
    std::array<std::uint32_t, max_count> blocks;
    std::uint32_t count;
  };
  Samples samples_of(const Half& half) const {
    constexpr std::uint32_t count_of_small_half = 4;
    const std::uint64_t size = half.end - half.begin;
    Samples samples;
    samples.count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(size, size * 32 >= distances_.count() ? Samples::max_count : count_of_small_half));
    for (std::uint32_t at = 0; at < samples.count; ++at)
      samples.blocks[at] = half.begin + static_cast<std::uint32_t>((2 * at + 1) * size / (2 * samples.count));
    return samples;
  }

  double mean_distance(const Samples& a, const Samples& b) const {
    double sum = 0;
    for (std::uint32_t from = 0; from < a.count; ++from) {
      for (std::uint32_t to = 0; to < b.count; ++to) sum += distances_(a.blocks[from], b.blocks[to]);
    }
    return sum / (double{1} * a.count * b.count);
  }

  const WeightedGraph& graph_;
  const NetworkHalves& network_;
  const BlockDistances& distances_;
  BlockWeights max_block_weight_;
  const PartitionOptions& options_;
  std::vector<std::uint32_t> half_of_;  // the smallest half that is known for each vertex
  std::vector<double> pull_of_;         // by half, of the vertices in it, to the right side of the current half
  std::vector<std::uint32_t> pulling_;  // the halves whose pull is computed
};

}  // namespace

KWayPartition partition_network(const WeightedGraph& graph, const NetworkHalves& network,
                                const BlockDistances& distances, std::span<const std::uint64_t> max_block_weight,
                                const PartitionOptions& options, std::uint64_t seed) {
  const PartitionSteps steps{
      .initial =
          [&](const WeightedGraph& coarsest, std::uint64_t initial_seed) {
            return DualBisection(coarsest, network, distances, max_block_weight, options).run(initial_seed);
          },
      .refine =
          [&](const WeightedGraph& level, std::span<std::uint32_t> block_of) {
            return fm_kway_network(level, distances, max_block_weight, block_of, options.fm_passes);
          }};
  return partition_multilevel(graph, max_block_weight, options, steps, seed);
}

}  // namespace rankloom::multilevel
