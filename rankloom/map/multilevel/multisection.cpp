// SPDX-License-Identifier: Apache-2.0
// map/multilevel: recursive multisection.
#include "rankloom/map/multilevel/multisection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/multilevel/network/network_partition.hpp"

namespace rankloom::multilevel {
namespace {

using Part = MachineTree::Part;

/// Each partitioning step cuts more expensive edges than the steps after it, so it may use at least this exponent of
/// the slack factor (see max_block_weights).
constexpr double min_slack_exponent = 0.5;

class Multisection {
 public:
  Multisection(const MachineTree& tree, const Distance& distance, const MultisectionOptions& options,
               std::span<Core> core_of)
      : tree_(tree),
        distance_(distance),
        options_(options),
        top_(options.partition),
        light_(options.partition),
        core_of_(core_of) {
    top_.runs = options.top.runs;
    top_.recombinations = options.top.recombinations;
    top_.v_cycles = options.top.v_cycles;
    top_.annealing_sweeps = options.top.annealing_sweeps;
    light_.flow_rounds = 0;
    light_.bisection.flow_refinement = false;
    light_.repetitions = 1;
    light_.bisection.repetitions = 1;
    for (Part part = tree.root(); !part.is_core(); part = tree.children(part).front()) {
      max_cut_cost_ = std::max(max_cut_cost_, cut_cost(part));
    }
  }

  /// `original` are the numbers of the vertices in the whole graph.
  void run(const Part& part, const WeightedGraph& graph, std::span<const std::uint32_t> original,
           std::uint64_t seed) const {
    if (original.empty()) return;
    if (part.is_core()) {
      for (const std::uint32_t vertex : original) core_of_[vertex] = Core{part.begin};
      return;
    }
    auto children = tree_.children(part);
    if (is_any_order_best(part, children, original.size())) return place_in_order(children, original);
    const PartitionOptions options = options_of(cut_cost(part), children.size(), graph.vertex_count());
    KWayPartition partition;
    if (has_network(tree_, part)) {
      const NetworkHalves network(tree_.topology(), std::move(children));
      children = network.blocks;
      partition = partition_network(graph, network, BlockDistances(distance_, children, inside(children)),
                                    max_block_weights(part, children, graph), options, seed);
    } else {
      partition = partition_kway(graph, max_block_weights(part, children, graph), options, seed);
    }
    auto blocks = block_subgraphs(graph, partition.block_of, static_cast<std::uint32_t>(children.size()));
    parallel_chunks(children.size(), 1, [&](std::size_t child, std::size_t) {
      for (std::uint32_t& vertex : blocks[child].original) vertex = original[vertex];
      run(children[child], blocks[child].graph, blocks[child].original, mix(seed + child));
      blocks[child] = {};
    });
  }

 private:
  /// Whether each core takes at most one vertex, and all cores are at the same distance.
  bool is_any_order_best(const Part& part, std::span<const Part> children, std::size_t vertices) const {
    return vertices <= tree_.slots(part) && !has_network(tree_, part) &&
           std::all_of(children.begin(), children.end(),
                       [&](const Part& child) { return child.is_core() && tree_.slots(child) <= 1; });
  }

  void place_in_order(std::span<const Part> cores, std::span<const std::uint32_t> vertices) const {
    auto vertex = vertices.begin();
    for (const Part& core : cores) {
      if (vertex != vertices.end() && tree_.slots(core) > 0) core_of_[*vertex++] = Core{core.begin};
    }
  }

  PartitionOptions options_of(double cut_cost, std::size_t blocks, std::size_t vertices) const {
    if (cut_cost < max_cut_cost_)
      return cut_cost * options_.light_step_ratio < max_cut_cost_ ? light_ : options_.partition;
    PartitionOptions options = top_;
    // With many blocks, the coarsest graph is not much smaller than the finest one.
    constexpr std::size_t small = std::size_t{1} << 16;
    const auto affordable = static_cast<std::uint32_t>((vertices + small) / (2 * blocks * options.vertices_per_block));
    const std::uint32_t usual = options.repetitions;
    options.repetitions = std::clamp(affordable, usual, usual * options_.top.repetition_factor);
    return options;
  }

  double distance(const Part& a, const Part& b) const {
    return std::visit([&](const auto& d) { return d(Core{a.begin}, Core{b.begin}).per_byte; }, distance_);
  }
  /// The additional cost of a byte between two children of the part, compared with a byte inside one child.
  double cut_cost(const Part& part) const {
    const auto children = tree_.children(part);
    return distance(children[0], children[1]) - inside(children);
  }
  /// The cost of a byte inside one child.
  double inside(std::span<const Part> children) const {
    const auto inner = tree_.children(children.front());
    return inner.empty() ? 0 : distance(inner[0], inner[1]);
  }

  /// With `pack`, a step may use all slots. Otherwise, let s = slots / ranks. A step with b of the remaining B
  /// bisections may use s^max(b/B, 1/2): its blocks may be that much larger than in a balanced partition.
  std::vector<std::uint64_t> max_block_weights(const Part& part, std::span<const Part> children,
                                               const WeightedGraph& graph) const {
    std::vector<std::uint64_t> weights;
    for (const Part& child : children) weights.push_back(tree_.slots(child));
    if (options_.pack) return weights;
    const double slack_factor =
        static_cast<double>(tree_.slots(part)) / static_cast<double>(graph.total_vertex_weight());
    const double bisections_here = portable_log2(static_cast<double>(children.size()));
    const double bisections_left = portable_log2(static_cast<double>(part.core_count()));
    const double factor =
        portable_pow(slack_factor, std::max(bisections_here / bisections_left, min_slack_exponent)) / slack_factor;
    for (std::uint64_t& weight : weights) {
      weight = std::min(weight, static_cast<std::uint64_t>(std::ceil(static_cast<double>(weight) * factor)));
    }
    return weights;
  }

  const MachineTree& tree_;
  const Distance& distance_;
  const MultisectionOptions& options_;
  PartitionOptions top_, light_;  // for partitions with the most and with little influence on the cost
  double max_cut_cost_ = 0;
  std::span<Core> core_of_;
};

}  // namespace

std::vector<Core> multisection(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                               const MultisectionOptions& options, std::uint64_t seed) {
  const TimedSection timing("multisection");
  std::vector<Core> core_of(graph.vertex_count());
  std::vector<std::uint32_t> all(graph.vertex_count());
  std::iota(all.begin(), all.end(), 0U);
  Multisection(tree, distance, options, core_of).run(tree.root(), graph, all, seed);
  return core_of;
}

}  // namespace rankloom::multilevel
