// SPDX-License-Identifier: Apache-2.0
// map/multilevel: recursive multisection.
#include "rankloom/map/multilevel/multisection.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

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
  Multisection(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
               const MultisectionOptions& options, std::span<Core> core_of)
      : graph_(graph),
        tree_(tree),
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

  void run(std::uint64_t seed) const { run(tree_.root(), graph_, Vertices(graph_.vertex_count()), seed); }

 private:
  /// The numbers of the vertices of a part in the whole graph.
  class Vertices {
   public:
    explicit Vertices(std::uint32_t all) : count_(all) {}
    explicit Vertices(std::vector<std::uint32_t> original)
        : original_(std::move(original)), count_(static_cast<std::uint32_t>(original_.size())) {}
    std::uint32_t count() const { return count_; }
    std::uint32_t operator[](std::uint32_t vertex) const { return original_.empty() ? vertex : original_[vertex]; }

   private:
    std::vector<std::uint32_t> original_;  // empty: vertex i is vertex i of the whole graph
    std::uint32_t count_;
  };

  void run(const Part& part, const WeightedGraph& graph, const Vertices& vertices, std::uint64_t seed) const {
    if (vertices.count() == 0) return;
    if (part.is_core()) {
      for (std::uint32_t vertex = 0; vertex < vertices.count(); ++vertex) core_of_[vertices[vertex]] = Core{part.begin};
      return;
    }
    auto children = tree_.children(part);
    if (is_any_order_best(part, children, vertices.count())) return place_in_order(children, vertices);
    const BlockMembers blocks = partition(part, children, graph, seed);
    // The subgraph of a child exists only while the child is divided.
    parallel_chunks(children.size(), 1, [&](std::size_t child, std::size_t) {
      const auto members = blocks[child];
      std::vector<std::uint32_t> original(members.size());
      std::transform(members.begin(), members.end(), original.begin(),
                     [&](std::uint32_t vertex) { return vertices[vertex]; });
      const bool is_divided = !children[child].is_core() && !members.empty();
      run(children[child], is_divided ? blocks.subgraph(graph, child) : WeightedGraph(), Vertices(std::move(original)),
          mix(seed + child));
    });
  }

  /// The vertices of each child. The nodes of a network get another order.
  BlockMembers partition(const Part& part, std::vector<Part>& children, const WeightedGraph& graph,
                         std::uint64_t seed) const {
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
    return {partition.block_of, static_cast<std::uint32_t>(children.size())};
  }

  /// Whether each core takes at most one vertex, and all cores are at the same distance.
  bool is_any_order_best(const Part& part, std::span<const Part> children, std::size_t vertices) const {
    return vertices <= tree_.slots(part) && !has_network(tree_, part) &&
           std::all_of(children.begin(), children.end(),
                       [&](const Part& child) { return child.is_core() && tree_.slots(child) <= 1; });
  }

  void place_in_order(std::span<const Part> cores, const Vertices& vertices) const {
    std::uint32_t vertex = 0;
    for (const Part& core : cores) {
      if (vertex < vertices.count() && tree_.slots(core) > 0) core_of_[vertices[vertex++]] = Core{core.begin};
    }
  }

  PartitionOptions options_of(double cut_cost, std::size_t blocks, std::uint32_t vertices) const {
    PartitionOptions options = top_;
    if (cut_cost < max_cut_cost_) {
      options = cut_cost * options_.light_step_ratio < max_cut_cost_ ? light_ : options_.partition;
    } else {
      // With many blocks, the coarsest graph is not much smaller than the finest one.
      constexpr std::uint32_t small = 1U << 16;
      const auto affordable =
          static_cast<std::uint32_t>((std::size_t{vertices} + small) / (2 * blocks * options.vertices_per_block));
      const std::uint32_t usual = options.repetitions;
      options.repetitions = std::clamp(affordable, usual, usual * options_.top.repetition_factor);
    }
    // The largest steps need most memory.
    constexpr std::uint32_t large = 1U << 16;
    const bool is_largest = vertices >= large && std::size_t{4} * vertices >= graph_.vertex_count();
    if (is_largest) options.first_level = options_.largest_first_level;
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

  const WeightedGraph& graph_;
  const MachineTree& tree_;
  const Distance& distance_;
  const MultisectionOptions& options_;
  PartitionOptions top_, light_;  // for partitions with the most and with little influence on the cost
  double max_cut_cost_ = 0;
  std::span<Core> core_of_;
};

}  // namespace

Array<Core> multisection(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                         const MultisectionOptions& options, std::uint64_t seed) {
  const TimedSection timing("multisection");
  Array<Core> core_of(graph.vertex_count());  // without memory during the first step, which needs most
  Multisection(graph, tree, distance, options, core_of).run(seed);
  return core_of;
}

}  // namespace rankloom::multilevel
