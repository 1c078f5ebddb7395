// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the default choice: several constructions, each improved, the best kept. An anytime search: all
// constructions first, then the most promising is improved first; when the time is up, the best so far is the answer.
#include <algorithm>
#include <utility>

#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"
#include "rankloom/map/portfolio/growing.hpp"
#include "rankloom/map/portfolio/portfolios.hpp"

namespace rankloom {
namespace {

/// Up to so many pairs of a rank and a core, all exchanges are looked at, also from random placements.
constexpr std::uint64_t few_pairs = std::uint64_t{1} << 17;
constexpr std::uint64_t random_starts = 4;
constexpr std::uint64_t kicks = 10;
constexpr std::uint64_t kicks_for_the_best = 100;

struct Candidate {
  std::vector<Core> core_of;
  double cost;
};

class Auto final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const std::uint64_t ranks = problem.graph.rank_count();
    const bool small = ranks * (ranks + problem.topology.core_count()) <= few_pairs;
    Pulse pulse(run, "auto");
    auto candidates = construct(problem, small, run.seed, pulse);
    Candidate best = candidates.front();
    const Senders senders(problem.graph);
    Random random(run.seed, random_starts);
    const auto improve = [&](const std::vector<Core>& start, bool nearby, std::uint64_t times) {
      if (pulse.stop_now()) return;
      Seating seating(problem, start);
      if (nearby) NeighbourhoodDescent(seating).run(pulse);
      if (small) descend_steepest(seating, senders, times, random, pulse);
      if (seating.cost() < best.cost) best = {seating.placement(), seating.cost()};
    };
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      pulse.set_fraction(static_cast<double>(at) / static_cast<double>(candidates.size()));
      improve(candidates[at].core_of, true, kicks);
      // The two descents end in different optima; on a small problem there is time for both.
      if (small) improve(candidates[at].core_of, false, kicks);
    }
    if (small) improve(best.core_of, false, kicks_for_the_best);
    return Placement{std::move(best.core_of), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }

 private:
  /// At least the start and the block placement; the cheapest first.
  static std::vector<Candidate> construct(const MapProblem& problem, bool small, std::uint64_t seed, Pulse& pulse) {
    const std::uint32_t ranks = problem.graph.rank_count();
    std::vector<Candidate> candidates;
    const auto add = [&](std::vector<Core> core_of) {
      const double value = evaluate(problem.graph, problem.topology, core_of, problem.model);
      candidates.push_back({std::move(core_of), objective(problem.model, value)});
    };
    if (!problem.start.empty()) add(start_of(problem));
    add(block_placement(ranks, problem.topology, problem.slots));
    if (!pulse.stop_now()) add(grown_placement(problem));
    if (!pulse.stop_now()) add(round_robin_placement(ranks, problem.topology, problem.slots));
    for (std::uint64_t stream = 0; small && stream < random_starts && !pulse.stop_now(); ++stream) {
      Random random(seed, stream);
      add(random_placement(ranks, problem.topology, problem.slots, random));
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    return candidates;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_auto() {
  return std::make_unique<Auto>();
}

}  // namespace rankloom
