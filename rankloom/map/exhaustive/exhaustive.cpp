// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: the exhaustive search of Getmanskiy et al. 2015, section 2.1: backtracking over all placements of M
// tasks on N cores, of which there are N!/(N-M)!. Beyond the paper, a bound on the partial cost cuts it, parts of the
// machine that are alike are tried once, and it begins with a good placement from local search.
#include "rankloom/map/mapper_factories.hpp"

#include <limits>

#include <fmt/format.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"

namespace rankloom {
namespace {

/// Placements (those counted once that differ only by parts that are alike) beyond which the search is not begun: 10
/// tasks on 15 cores without any symmetry are 1.1e10.
constexpr double max_placements = 1e11;
/// Without a bound on what is to come every branch goes deeper, so less can be finished.
constexpr double max_placements_congestion = 1e9;
/// Beyond these its tables would be large and a single step slow, so no option helps.
constexpr std::uint32_t max_tasks = 64;
constexpr std::uint64_t random_starts = 4;
constexpr std::uint64_t kicks = 20;

Symmetry find_symmetry(const MapProblem& problem, const SmallProblem& small) {
  const auto same_core = [&](Core p, Core q) { return problem.capacities[p] == problem.capacities[q]; };
  if (problem.model == CostModel::congestion) {
    // In a tree of levels equal numbers of hops make two parts alike; of another network only the inside of a node is
    // known to be.
    const std::size_t highest = problem.topology.routed() ? problem.topology.node_level() + 1 : 0;
    return Symmetry(problem.topology, highest, same_core, [&](Core p, Core q, Core r, Core s) {
      return problem.topology.hops(p, q) == problem.topology.hops(r, s);
    });
  }
  return Symmetry(problem.topology, 0, same_core, [&](Core p, Core q, Core r, Core s) {
    const PairCost& one = small.distance(index(p), index(q));
    const PairCost& other = small.distance(index(r), index(s));
    return one.per_byte == other.per_byte && one.per_message == other.per_message;
  });
}

/// How many placements there are when parts that are alike count once: an estimate from above, by spreading the tasks
/// as far as possible, which leaves the most choices open.
double count_placements(const SmallProblem& small, const Symmetry& symmetry) {
  std::vector<std::uint32_t> occupants(small.cores(), 0);
  std::vector<bool> representative;
  double product = 1;
  for (std::uint32_t task = 0; task < small.tasks(); ++task) {
    symmetry.representatives(occupants, representative);
    std::uint32_t choices = 0;
    std::uint32_t last = 0;
    for (std::uint32_t core = 0; core < small.cores(); ++core) {
      if (!representative[core] || occupants[core] == small.capacities(core)) continue;
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
    options.flag("force", force_, "search however long it takes");
    options.count("nodes", max_nodes_, "partial placements to look at before giving up", 1);
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    if (problem.graph.rank_count() > max_tasks || problem.topology.core_count() > SmallProblem::max_cores) {
      return fail(Code::infeasible, at("exhaustive"),
                  fmt::format("{} tasks on {} cores are too many to search exhaustively", problem.graph.rank_count(),
                              problem.topology.core_count()),
                  fmt::format("choose another mapper, such as auto; exhaustive takes up to {} tasks and {} cores",
                              max_tasks, SmallProblem::max_cores));
    }
    const SmallProblem small(problem);
    const Symmetry symmetry = find_symmetry(problem, small);
    const double most = problem.model == CostModel::congestion ? max_placements_congestion : max_placements;
    const double placements = count_placements(small, symmetry);
    if (placements > most && !force_ && !run.deadline.limited()) {
      return refuse(fmt::format("{} tasks on {} cores have about {:.1e} placements, more than the {:.0e} it searches",
                                small.tasks(), small.cores(), placements, most));
    }
    return search(problem, small, symmetry, run);
  }

 private:
  static Failure refuse(std::string what) {
    return fail(Code::infeasible, at("exhaustive"), std::move(what),
                "choose another mapper, such as auto, give it a time budget, or insist with exhaustive:force");
  }

  Result<Placement> search(const MapProblem& problem, const SmallProblem& small, const Symmetry& symmetry,
                           const MapRun& run) const {
    StopCondition stop_condition(run, "exhaustive");
    Incumbent incumbent = good_start(problem, run.seed, stop_condition);
    // Where a time budget ends the search, nothing else has to.
    const bool unlimited = force_ || run.deadline.limited();
    SearchBudget budget(unlimited ? std::numeric_limits<std::uint64_t>::max() : max_nodes_, stop_condition);
    const double bound = problem.model == CostModel::congestion
                             ? search_congestion(problem, small, symmetry, budget, incumbent)
                             : search_pairwise(small, symmetry, budget, incumbent);
    if (budget.end() == SearchEnd::out_of_nodes) {
      return refuse(fmt::format("{} tasks on {} cores were not finished after {} partial placements", small.tasks(),
                                small.cores(), max_nodes_));
    }
    if (budget.end() == SearchEnd::out_of_time) {
      return Placement{std::move(incumbent.core_of), bound, std::string(stopped_note)};
    }
    const double least = cost_of(problem, incumbent.core_of);
    return Placement{std::move(incumbent.core_of), least, "proved optimal"};
  }

  static Incumbent good_start(const MapProblem& problem, std::uint64_t seed, StopCondition& stop_condition) {
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
    // The searches compare with costs added up afresh.
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
