// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the exhaustive search of Getmanskiy et al. 2015, section 2.1: backtracking over all N!/(N-M)!
// placements of M tasks on N cores. Beyond the paper, a bound on the cost prunes the search, symmetric parts of the
// machine are tried once, and the first incumbent comes from a local search.
#include <limits>

#include <fmt/format.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

/// The search does not start with more placements than this; placements that differ only by symmetric parts of the
/// machine count once. 10 tasks on 15 cores without any symmetry have 1.1e10 placements.
constexpr double max_placements = 1e11;
/// The congestion search has no bound on the cost of the unplaced tasks, so it prunes later and solves fewer problems.
constexpr double max_placements_congestion = 1e9;
/// Beyond this the matrices are large and a single step is slow, so neither `force` nor a time budget helps.
constexpr std::uint32_t max_tasks = 64;
constexpr std::uint64_t random_starts = 4;
constexpr std::uint64_t kicks = 20;

MachineSymmetry find_machine_symmetry(const MapProblem& problem, const DenseQap& qap) {
  const auto same_core = [&](Core p, Core q) { return problem.capacities[p] == problem.capacities[q]; };
  if (problem.model == CostModel::congestion) {
    // In a tree of levels, equal numbers of hops make two parts symmetric. On other networks only objects inside a node
    // are known to be symmetric.
    const Topology& topology = problem.topology;
    const std::size_t highest = topology.routed() ? topology.node_level() + 1 : 0;
    const auto on_one_rail = [&](Core p, Core q) {
      return topology.rail_count() == 0 || topology.rail(p) == topology.rail(q);
    };
    const auto same_core_and_rail = [&](Core p, Core q) { return same_core(p, q) && on_one_rail(p, q); };
    return MachineSymmetry(topology, highest, same_core_and_rail,
                           [&](Core p, Core q, Core r, Core s) { return topology.hops(p, q) == topology.hops(r, s); });
  }
  return MachineSymmetry(problem.topology, 0, same_core, [&](Core p, Core q, Core r, Core s) {
    const PairCost& a = qap.distance(index(p), index(q));
    const PairCost& b = qap.distance(index(r), index(s));
    return a.per_byte == b.per_byte && a.per_message == b.per_message;
  });
}

/// The number of placements up to symmetry, estimated from above: each task is placed where it leaves the most choices
/// open, on the last representative core.
double count_placements(const DenseQap& qap, const MachineSymmetry& symmetry) {
  std::vector<std::uint32_t> occupants(qap.cores(), 0);
  std::vector<bool> representative;
  double product = 1;
  for (std::uint32_t task = 0; task < qap.tasks(); ++task) {
    symmetry.representatives(occupants, representative);
    std::uint32_t choices = 0;
    std::uint32_t last = 0;
    for (std::uint32_t core = 0; core < qap.cores(); ++core) {
      if (!representative[core] || occupants[core] == qap.capacity(core)) continue;
      ++choices;
      last = core;
    }
    product *= choices;
    ++occupants[last];
  }
  return product;
}

double cost_of(const MapProblem& problem, const std::vector<Core>& core_of) {
  return objective(problem.model, evaluate(problem.graph, problem.topology, core_of, problem.model));
}

class Exhaustive final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.flag("force", force_, "search no matter how long it takes");
    options.count("nodes", max_nodes_, "number of partial placements to visit before giving up", 1);
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    if (problem.graph.rank_count() > max_tasks || problem.topology.core_count() > DenseQap::max_cores) {
      return fail(Code::infeasible, at("exhaustive"),
                  fmt::format("{} tasks on {} cores are too many to search exhaustively", problem.graph.rank_count(),
                              problem.topology.core_count()),
                  fmt::format("choose another mapper, such as auto; exhaustive supports up to {} tasks and {} cores",
                              max_tasks, DenseQap::max_cores));
    }
    const DenseQap qap(problem);
    const MachineSymmetry symmetry = find_machine_symmetry(problem, qap);
    const double limit = problem.model == CostModel::congestion ? max_placements_congestion : max_placements;
    const double placements = count_placements(qap, symmetry);
    if (placements > limit && !force_ && !run.deadline.limited()) {
      return refuse(fmt::format("{} tasks on {} cores have about {:.1e} placements, more than the limit of {:.0e}",
                                qap.tasks(), qap.cores(), placements, limit));
    }
    return search(problem, qap, symmetry, run);
  }

 private:
  static Failure refuse(std::string what) {
    return fail(Code::infeasible, at("exhaustive"), std::move(what),
                "choose another mapper, such as auto, set a time budget with --budget, or use exhaustive:force");
  }

  Result<Placement> search(const MapProblem& problem, const DenseQap& qap, const MachineSymmetry& symmetry,
                           const MapRun& run) const {
    StopCondition stop_condition(run, "exhaustive");
    Incumbent incumbent = initial_incumbent(problem, run.seed, stop_condition);
    // With a time budget, no other limit is needed.
    const bool unlimited = force_ || run.deadline.limited();
    SearchBudget budget(unlimited ? std::numeric_limits<std::uint64_t>::max() : max_nodes_, stop_condition);
    const double bound = problem.model == CostModel::congestion
                             ? search_congestion(problem, qap, symmetry, budget, incumbent)
                             : search_pairwise(qap, symmetry, budget, incumbent);
    if (budget.outcome() == SearchOutcome::out_of_nodes) {
      return refuse(fmt::format("the search for {} tasks on {} cores is not complete after {} partial placements",
                                qap.tasks(), qap.cores(), max_nodes_));
    }
    if (budget.outcome() == SearchOutcome::out_of_time) {
      return Placement{std::move(incumbent.core_of), bound, std::string(stopped_note)};
    }
    const double optimum = cost_of(problem, incumbent.core_of);
    return Placement{std::move(incumbent.core_of), optimum, "proved optimal"};
  }

  static Incumbent initial_incumbent(const MapProblem& problem, std::uint64_t seed, StopCondition& stop_condition) {
    Incumbent best;
    const ReverseAdjacency reverse_adjacency(problem.graph);
    Random random(seed);
    const auto descend = [&](const std::vector<Core>& start) {
      PlacementState state(problem, start);
      descend_steepest(state, reverse_adjacency, kicks, random, stop_condition);
      if (best.core_of.empty() || state.cost() < best.cost) best = {state.placement(), state.cost()};
    };
    descend(start_of(problem));
    for (std::uint64_t start = 0; start < random_starts && !stop_condition.stopped(); ++start) {
      descend(random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, random));
    }
    // The searches compare with a cost that is not accumulated from deltas.
    best.cost = cost_of(problem, best.core_of);
    return best;
  }

  bool force_ = false;
  std::uint64_t max_nodes_ = 20'000'000;
};

}  // namespace

std::unique_ptr<Mapper> make_exhaustive() {
  return std::make_unique<Exhaustive>();
}

}  // namespace rankloom
