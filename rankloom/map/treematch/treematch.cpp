// SPDX-License-Identifier: Apache-2.0
// map/treematch: the mapper `treematch`, TreeMatch (Jeannot, Mercier, Tessier 2014); Cruz 2019, 4.5, compares with it.
//
// Bottom up (Algorithm 1): GroupProcesses groups the ranks by the arity of the lowest level, so that the traffic
// between groups is small; AggregateComMatrix sums the traffic between groups; both are repeated with the arity of the
// next level up to the root. Then MapGroups maps the tree of groups to the machine. For fewer tasks than cores the
// paper's ExtendComMatrix adds dummy tasks without traffic; here groups have missing members instead, and because a
// group of dummies alone is optimal, as few objects as possible are used. Levels of large arity are divided into the
// prime factors of their arity (the paper's arity division).
//
// Beyond the paper: with more ranks than cores there is one more level below the cores, whose groups have equal sizes.
// The nodes of a routed network are grouped into pairs, pairs of pairs, and so on, and mapped to the nodes in locality
// order. On uneven machines all ranks are grouped that way, and the groups are mapped to parts of sufficient capacity.
#include <algorithm>

#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/treematch/group_tree.hpp"
#include "rankloom/map/treematch/map_groups.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

std::vector<std::uint32_t> prime_factors(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t prime = 2; std::uint64_t{prime} * prime <= number; ++prime) {
    for (; number % prime == 0; number /= prime) factors.push_back(prime);
  }
  if (number > 1) factors.push_back(number);
  return factors;
}

/// The machine as one or several equal regular trees.
struct Shape {
  std::vector<std::uint32_t> arities;  ///< Bottom up: cores per lowest object, lowest objects per next object, ...
  std::vector<Part> trees;             ///< The equal trees in locality order: the nodes of a network, or the machine.
  bool regular = true;                 ///< False: the machine is uneven, and there are no arities.
};

Shape shape_of(const MachineTree& tree) {
  Shape shape;
  const Part root = tree.root();
  shape.trees = {root};
  if (has_network(tree, root)) shape.trees = locality_order(tree.topology(), tree.children(root));
  for (const Part& part : shape.trees) {
    shape.regular &= tree.symmetric(part) && tree.arities(part) == tree.arities(shape.trees.front());
    shape.regular &= tree.slots(part) == tree.slots(shape.trees.front());
  }
  if (shape.regular) {
    shape.arities = tree.arities(shape.trees.front());
    std::reverse(shape.arities.begin(), shape.arities.end());
  }
  return shape;
}

class TreeMatch final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count(
        "candidates", candidates_,
        "the most candidate groups to list at a time; if there are more, one group per rank is grown greedily", 1);
    options.flag("split", split_, "divide levels of large arity into the prime factors of the arity");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    StopCondition stop_condition(run, "treematch");
    const MachineTree tree(problem.topology, problem.capacities);
    const Shape shape = shape_of(tree);
    std::vector<Core> best;
    double best_cost = 0;
    for (const GroupingVariant& variant : variants(problem, shape)) {
      if (!best.empty() && (stop_condition.should_stop_now() || problem.graph.edge_count() > max_edges_for_all_orders))
        break;
      std::vector<Core> core_of = shape.regular ? place_on_regular_machine(problem, shape, variant, stop_condition)
                                                : place_on_uneven_machine(problem, tree, variant, stop_condition);
      const double cost = objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
      if (best.empty() || cost < best_cost) best = std::move(core_of), best_cost = cost;
    }
    return Placement{std::move(best), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

 private:
  static constexpr std::uint64_t max_edges_for_all_orders = 10'000'000;
  static constexpr std::uint64_t max_edges_for_scarce_order =
      200'000;  // that order takes several times as long as the others

  /// The paper tries several orders for each grouping; here each order is tried for the whole tree of groups.
  static std::vector<GroupingVariant> variants(const MapProblem& problem, const Shape& shape) {
    std::vector<GroupingVariant> all;
    for (const bool prefer_connected : {false, true}) {
      if (prefer_connected && (!shape.regular || problem.graph.rank_count() >= problem.topology.core_count())) break;
      const bool few_edges = problem.graph.edge_count() <= max_edges_for_scarce_order;
      for (const GroupOrder order :
           {GroupOrder::external, GroupOrder::internal, GroupOrder::ratio, GroupOrder::scarce}) {
        if (order != GroupOrder::scarce || few_edges) all.push_back({order, prefer_connected});
      }
    }
    return all;
  }

  std::vector<std::uint32_t> divide_arity(std::uint32_t arity) const {
    return split_ ? prime_factors(arity) : std::vector{arity};
  }

  std::vector<Core> place_on_regular_machine(const MapProblem& problem, const Shape& shape,
                                             const GroupingVariant& variant, StopCondition& stop_condition) const {
    const std::uint32_t ranks = problem.graph.rank_count();
    const std::uint32_t cores_per_tree = shape.trees.front().core_count();
    const std::uint64_t cores = std::uint64_t{cores_per_tree} * shape.trees.size();
    const auto ranks_per_core = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (ranks + cores - 1) / cores));
    GroupTree groups(problem.graph, variant, candidates_, stop_condition);
    if (ranks_per_core > 1) groups.group_evenly(static_cast<std::uint32_t>(cores));
    std::uint64_t objects = cores;
    for (const std::uint32_t arity : shape.arities) {
      for (const std::uint32_t factor : divide_arity(arity)) groups.group_by_arity(factor, objects /= factor);
    }
    if (shape.trees.size() > 1) {
      while (groups.size() > 1) groups.group_by_arity(2, (groups.size() + 1) / 2);
    }
    const auto slots = groups.slots();
    // The n-th tree of groups that contains ranks is mapped to the n-th tree of the machine.
    std::vector<std::uint64_t> used_trees;
    used_trees.reserve(slots.size());
    const std::uint64_t slots_per_tree = std::uint64_t{cores_per_tree} * ranks_per_core;
    for (const std::uint64_t slot : slots) used_trees.push_back(slot / slots_per_tree);
    std::sort(used_trees.begin(), used_trees.end());
    used_trees.erase(std::unique(used_trees.begin(), used_trees.end()), used_trees.end());
    std::vector<Core> core_of;
    core_of.reserve(slots.size());
    for (const std::uint64_t slot : slots) {
      const auto at =
          std::lower_bound(used_trees.begin(), used_trees.end(), slot / slots_per_tree) - used_trees.begin();
      const Part& tree = shape.trees[static_cast<std::size_t>(at)];
      core_of.push_back(Core{tree.begin + static_cast<std::uint32_t>(slot % slots_per_tree / ranks_per_core)});
    }
    return core_of;
  }

  std::vector<Core> place_on_uneven_machine(const MapProblem& problem, const MachineTree& tree,
                                            const GroupingVariant& variant, StopCondition& stop_condition) const {
    GroupTree groups(problem.graph, variant, candidates_, stop_condition);
    while (groups.size() > 1) groups.group_by_arity(2, (groups.size() + 1) / 2);
    return map_groups(problem, tree, groups);
  }

  std::uint64_t candidates_ = 100'000;
  bool split_ = true;
};

}  // namespace

std::unique_ptr<Mapper> make_treematch() {
  return std::make_unique<TreeMatch>();
}

}  // namespace rankloom
