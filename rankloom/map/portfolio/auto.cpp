// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the default choice. Candidates from several constructions, the best of them improved as far as the
// effort goes: an anytime search, which returns the best so far when the time is up.
#include <algorithm>
#include <optional>
#include <utility>

#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"
#include "rankloom/map/multilevel/multilevel.hpp"
#include "rankloom/map/portfolio/portfolios.hpp"
#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/tiling.hpp"

namespace rankloom {
namespace {

enum class Effort : std::uint8_t { fast, balanced, best };

/// What each effort pays for.
struct Plan {
  multilevel::Effort cutting;
  std::uint32_t runs;      ///< Multilevel constructions, each with another seed.
  std::uint32_t descents;  ///< Of the best candidates, improved by exchanges.
};

Plan plan_of(Effort effort, const MapProblem& problem) {
  Plan plan{};
  const bool shared = problem.graph.rank_count() > problem.topology.core_count();
  auto& division = plan.cutting.cutting.division;
  if (effort == Effort::fast) {
    plan.runs = 1;
    plan.descents = 1;
    division.vertices_a_part = 100;
    division.cut.tries = shared ? 1 : 2;
  } else {
    plan.runs = effort == Effort::best ? 8 : 1;
    plan.descents = 2;
    division.tries = 4;
    division.vertices_a_part = 300;
    division.cut.tries = shared ? 1 : 4;
  }
  division.passes = 8;
  return plan;
}

struct Candidate {
  std::vector<Core> core_of;
  double cost;
};

class Auto final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice("effort", effort_, {{"fast", Effort::fast}, {"balanced", Effort::balanced}, {"best", Effort::best}},
                   "how long to search: fast, balanced, or best, which uses the time of --budget");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    return Search(problem, run, effort_).run();
  }

 private:
  class Search {
   public:
    Search(const MapProblem& problem, const MapRun& run, Effort effort)
        : problem_(problem), run_(run), plan_(plan_of(effort, problem)), pulse_(run, "auto") {}

    Placement run() {
      construct();
      improve();
      return {std::move(candidates_.front().core_of), {}, std::string(pulse_.stopped() ? stopped_note : "")};
    }

   private:
    void add(std::vector<Core> core_of) {
      const double value = evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
      Candidate candidate{std::move(core_of), objective(problem_.model, value)};
      const auto place = std::upper_bound(candidates_.begin(), candidates_.end(), candidate.cost,
                                          [](double cost, const Candidate& other) { return cost < other.cost; });
      candidates_.insert(place, std::move(candidate));
    }

    /// At least the start and the block placement.
    void construct() {
      const std::uint32_t ranks = problem_.graph.rank_count();
      if (!problem_.start.empty()) add(start_of(problem_));
      add(block_placement(ranks, problem_.topology, problem_.slots));
      if (pulse_.stop_now()) return;
      add(round_robin_placement(ranks, problem_.topology, problem_.slots));
      if (pulse_.stop_now()) return;
      if (const auto grid = recognised_grid(problem_.graph)) {
        if (auto tiled = tiled_placement(problem_, *grid)) add(std::move(*tiled));
        if (grid->exact) return;
      }
      const multilevel::Program program(problem_);
      for (std::uint32_t at = 0; at < plan_.runs && !pulse_.stop_now(); ++at) {
        add(multilevel::placement(problem_, program, plan_.cutting, mix(run_.seed) + at));
      }
    }

    void improve() {
      const std::size_t count = std::min<std::size_t>(plan_.descents, candidates_.size());
      std::vector<Candidate> starts(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count));
      for (const Candidate& start : starts) {
        if (pulse_.stop_now()) return;
        Seating seating(problem_, start.core_of);
        NeighbourhoodDescent(seating).run(pulse_);
        if (seating.cost() < start.cost) add(seating.placement());
      }
    }

    const MapProblem& problem_;
    const MapRun& run_;
    Plan plan_;
    Pulse pulse_;
    std::vector<Candidate> candidates_;  // the cheapest first
  };

  Effort effort_ = Effort::balanced;
};

}  // namespace

std::unique_ptr<Mapper> make_auto() {
  return std::make_unique<Auto>();
}

}  // namespace rankloom
