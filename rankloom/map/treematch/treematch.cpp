// SPDX-License-Identifier: Apache-2.0
// map/treematch: TreeMatch (Jeannot, Mercier, Tessier 2014), as Cruz 2019, 4.5, compares with it.
//
// From the cores up: the ranks are grouped by as many as a lowest object has cores, so that little is said between
// groups; the groups by as many as the next object has children, and so on to the root (Algorithm 1). Then the tree of
// groups is laid on the machine. Where tasks are fewer than cores the paper adds dummies that say nothing; here they
// are missing members of a group, and since a group of dummies alone is the best of all, as few objects are used as
// hold the ranks. Wide levels are split into the prime factors of their width (the paper's arity split).
//
// Where the paper's machine ends: with more ranks than cores there is a level more below the cores, of equal shares.
// Nodes on a network are grouped in pairs, pairs of pairs, ..., and laid on the nodes in an order whose halves are
// near together. On uneven machines ranks are grouped so from the start, and the groups are laid out as they fit.
#include "rankloom/map/mapper_factories.hpp"

#include <algorithm>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/locality_order.hpp"
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

/// The machine as TreeMatch sees it.
struct Shape {
  std::vector<std::uint32_t> widths;  ///< Bottom up: cores of a lowest object, such objects of the next one, ...
  std::vector<Part> tops;             ///< The equal parts that these levels make up, in near order; one: the machine.
  bool even = true;                   ///< No: no levels at all.
};

Shape shape_of(const MachineTree& tree) {
  Shape shape;
  const Part root = tree.root();
  shape.tops = {root};
  if (has_network(tree, root)) shape.tops = locality_order(tree.topology(), tree.children(root));
  for (const Part& top : shape.tops) {
    shape.even &= tree.symmetric(top) && tree.arities(top) == tree.arities(shape.tops.front());
    shape.even &= tree.slots(top) == tree.slots(shape.tops.front());
  }
  if (shape.even) {
    shape.widths = tree.arities(shape.tops.front());
    std::reverse(shape.widths.begin(), shape.widths.end());
  }
  return shape;
}

class TreeMatch final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count("candidates", candidates_,
                  "candidate groups to list at a time; where there are more, only the most promising are looked at", 1);
    options.flag("split", split_, "cut wide levels into the prime factors of their width, so that groups stay small");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    StopCondition stop_condition(run, "treematch");
    const MachineTree tree(problem.topology, problem.capacities);
    const Shape shape = shape_of(tree);
    std::vector<Core> best;
    double least = 0;
    for (const GroupTry& how : tries(problem, shape)) {
      if (!best.empty() && (stop_condition.should_stop_now() || problem.graph.edge_count() > max_edges_for_all_orders)) break;
      std::vector<Core> core_of =
          shape.even ? on_even_machine(problem, shape, how, stop_condition) : on_any_machine(problem, tree, how, stop_condition);
      const double cost = objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
      if (best.empty() || cost < least) best = std::move(core_of), least = cost;
    }
    return Placement{std::move(best), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

 private:
  static constexpr std::uint64_t max_edges_for_all_orders = 10'000'000;
  static constexpr std::uint64_t max_edges_for_scarce_order = 200'000;  // it takes several times as long as the others

  /// The paper tries several orders for each grouping; here each is tried for the whole tree of groups.
  static std::vector<GroupTry> tries(const MapProblem& problem, const Shape& shape) {
    std::vector<GroupTry> all;
    for (const bool loose : {false, true}) {
      if (loose && (!shape.even || problem.graph.rank_count() >= problem.topology.core_count())) break;
      const bool few_edges = problem.graph.edge_count() <= max_edges_for_scarce_order;
      for (const GroupOrder order :
           {GroupOrder::external, GroupOrder::internal, GroupOrder::ratio, GroupOrder::scarce}) {
        if (order != GroupOrder::scarce || few_edges) all.push_back({order, loose});
      }
    }
    return all;
  }

  std::vector<std::uint32_t> split(std::uint32_t width) const {
    return split_ ? prime_factors(width) : std::vector{width};
  }

  std::vector<Core> on_even_machine(const MapProblem& problem, const Shape& shape, const GroupTry& how,
                                    StopCondition& stop_condition) const {
    const std::uint32_t ranks = problem.graph.rank_count();
    const std::uint32_t cores_of_top = shape.tops.front().core_count();
    const std::uint64_t cores = std::uint64_t{cores_of_top} * shape.tops.size();
    const auto ranks_of_core = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (ranks + cores - 1) / cores));
    GroupTree groups(problem.graph, how, candidates_, stop_condition);
    if (ranks_of_core > 1) groups.share(static_cast<std::uint32_t>(cores));
    std::uint64_t objects = cores;
    for (const std::uint32_t width : shape.widths) {
      for (const std::uint32_t factor : split(width)) groups.group(factor, objects /= factor);
    }
    if (shape.tops.size() > 1) {
      while (groups.size() > 1) groups.group(2, (groups.size() + 1) / 2);
    }
    const auto seats = groups.seats();
    // With several tops only the order of what is laid on them counts.
    std::vector<std::uint64_t> tops;
    tops.reserve(seats.size());
    const std::uint64_t seats_of_top = std::uint64_t{cores_of_top} * ranks_of_core;
    for (const std::uint64_t seat : seats) tops.push_back(seat / seats_of_top);
    std::sort(tops.begin(), tops.end());
    tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
    std::vector<Core> core_of;
    core_of.reserve(seats.size());
    for (const std::uint64_t seat : seats) {
      const auto at = std::lower_bound(tops.begin(), tops.end(), seat / seats_of_top) - tops.begin();
      const Part& top = shape.tops[static_cast<std::size_t>(at)];
      core_of.push_back(Core{top.begin + static_cast<std::uint32_t>(seat % seats_of_top / ranks_of_core)});
    }
    return core_of;
  }

  std::vector<Core> on_any_machine(const MapProblem& problem, const MachineTree& tree, const GroupTry& how,
                                   StopCondition& stop_condition) const {
    GroupTree groups(problem.graph, how, candidates_, stop_condition);
    while (groups.size() > 1) groups.group(2, (groups.size() + 1) / 2);
    return lay_out(problem, tree, groups);
  }

  std::uint64_t candidates_ = 100'000;
  bool split_ = true;
};

}  // namespace

std::unique_ptr<Mapper> make_treematch() {
  return std::make_unique<TreeMatch>();
}

}  // namespace rankloom
