// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the default choice: several constructions, each improved, the best kept. An anytime search: when the time
// is up, the best so far is the answer, at least the start.
#include <utility>

#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"
#include "rankloom/map/portfolio/growing.hpp"
#include "rankloom/map/portfolio/portfolios.hpp"

namespace rankloom {
namespace {

/// Up to so many pairs of a rank and a place, all of them are looked at, also from random placements.
constexpr std::uint64_t few_pairs = std::uint64_t{1} << 17;
constexpr std::uint64_t random_starts = 4;
constexpr std::uint64_t chain = 50;

class Best {
 public:
  explicit Best(const MapProblem& problem) : problem_(problem), senders_(problem.graph) {}

  /// Remembers the placement if it is better than all before, then improves it and looks again.
  void improve(const std::vector<Core>& start, bool all_pairs, Pulse& pulse) {
    Seating seating(problem_, start);
    keep(seating);
    if (pulse.stop_now()) return;
    NeighbourhoodDescent(seating).run(pulse);
    if (all_pairs) descend_steepest(seating, senders_, chain, pulse);
    keep(seating);
  }
  std::vector<Core> release() && { return std::move(core_of_); }

 private:
  void keep(const Seating& seating) {
    if (!core_of_.empty() && seating.cost() >= cost_) return;
    cost_ = seating.cost();
    core_of_ = seating.placement();
  }

  const MapProblem& problem_;
  Senders senders_;
  std::vector<Core> core_of_;
  double cost_ = 0;
};

class Auto final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const std::uint32_t ranks = problem.graph.rank_count();
    const bool all_pairs = std::uint64_t{ranks} * (ranks + problem.topology.core_count()) <= few_pairs;
    Pulse pulse(run, "auto");
    Best best(problem);
    if (!problem.start.empty()) best.improve(start_of(problem), all_pairs, pulse);
    best.improve(block_placement(ranks, problem.topology, problem.slots), all_pairs, pulse);
    if (!pulse.stopped()) best.improve(grown_placement(problem), all_pairs, pulse);
    if (!pulse.stopped()) best.improve(round_robin_placement(ranks, problem.topology, problem.slots), all_pairs, pulse);
    for (std::uint64_t stream = 0; all_pairs && stream < random_starts && !pulse.stopped(); ++stream) {
      Random random(run.seed, stream);
      best.improve(random_placement(ranks, problem.topology, problem.slots, random), all_pairs, pulse);
    }
    return Placement{std::move(best).release(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }
};

}  // namespace

std::unique_ptr<Mapper> make_auto() { return std::make_unique<Auto>(); }

}  // namespace rankloom
