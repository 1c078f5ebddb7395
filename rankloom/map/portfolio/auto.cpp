// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the default choice. Candidates from several constructions, the best of them improved as far as the
// effort goes: an anytime search, which returns the best so far when the time is up.
#include <algorithm>
#include <string>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/deep_search/deep_search.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/multilevel/multilevel.hpp"
#include "rankloom/map/multilevel/work.hpp"
#include "rankloom/map/portfolio/portfolios.hpp"
#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/tiling.hpp"

namespace rankloom {
namespace {

enum class Effort : std::uint8_t { fast, balanced, best };

/// What each effort pays for.
struct Plan {
  multilevel::Effort cutting;
  std::uint32_t runs = 1;        ///< Multilevel constructions, each with another seed.
  std::uint64_t trials = 0;      ///< Of the deep search.
  bool to_the_deadline = false;  ///< The deep search takes all the time there is.
  bool cut_grids = false;        ///< Look for something better than the tiling of a grid that does not fit evenly.
};

/// So many places stay free that it matters which: all of some nodes, or some of all.
bool is_roomy(const MapProblem& problem) {
  return problem.capacities.total() * 5 > std::uint64_t{problem.graph.rank_count()} * 6;
}

Plan plan_of(Effort effort, const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  const bool shared = ranks > problem.topology.core_count();
  Plan plan;
  auto& division = plan.cutting.cutting.division;
  division.passes = 8;
  switch (effort) {
    case Effort::fast:
      division.vertices_a_part = 100;
      division.cut.starts = 3;
      plan.cutting.cutting.cheap = 5;
      break;
    case Effort::balanced:
      division.vertices_a_part = 300;
      division.tries = 4;
      division.cut.tries = shared ? 1 : 2;
      plan.runs = shared || is_roomy(problem) ? 2 : 1;
      plan.trials = std::min<std::uint64_t>(2'500 * ranks, 10'000'000);
      plan.cut_grids = true;
      break;
    case Effort::best:
      division.vertices_a_part = 300;
      division.tries = 4;
      division.cut.tries = 4;
      plan.runs = 8;
      plan.trials = 20'000 * ranks;
      plan.to_the_deadline = true;
      plan.cut_grids = true;
      break;
  }
  return plan;
}

/// Beyond, exchanges one by one take longer than they are worth.
constexpr std::uint32_t most_ranks_for_exchanges = 1U << 17;
constexpr std::uint32_t most_ranks_for_deep_search = 1U << 15;
constexpr std::uint32_t most_ranks_for_much_at_once = 1U << 21;

struct Candidate {
  std::vector<Core> core_of;
  double cost;
};

class Auto final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice("effort", effort_, {{"fast", Effort::fast}, {"balanced", Effort::balanced}, {"best", Effort::best}},
                   "how long to search: fast, balanced, or best, which uses the time of --budget");
    options.flag("load", load_, "where cores are shared: bound each by the load of its ranks, not by their number");
    options.number("tolerance", tolerance_, "with load: how much more than the average a core may carry", 0, 10);
  }
  bool balances_load() const override { return load_; }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    if (load_) {
      if (const auto work = multilevel::work_of(problem, tolerance_)) return by_work(problem, run, *work);
    }
    return Search(problem, run, effort_).run();
  }

 private:
  /// Cut by the work of the ranks, then exchanges that leave no core with too much.
  Placement by_work(const MapProblem& problem, const MapRun& run, const multilevel::Work& work) const {
    const MapProblem in_units{problem.graph, problem.topology, work.capacities, problem.model, {}};
    Plan plan = plan_of(effort_, problem);
    plan.cutting.cutting.division.deadline = run.deadline;
    plan.cutting.cutting.pack = false;
    const multilevel::Program program(problem, work.units);
    auto core_of = multilevel::placement(in_units, program, plan.cutting, mix(run.seed));
    Pulse pulse(run, "auto");
    Seating seating(problem, core_of);
    LoadLimit limit(problem.graph, problem.topology, core_of, work.limit);
    NeighbourhoodDescent(seating, &limit).run(pulse);
    return {seating.placement(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }

  class Search {
   public:
    Search(const MapProblem& problem, const MapRun& run, Effort effort)
        : problem_(problem), run_(run), plan_(plan_of(effort, problem)), pulse_(run, "auto") {
      plan_.cutting.cutting.division.deadline = run.deadline;
    }

    Placement run() {
      construct();
      if (!settled_) improve();
      return {std::move(candidates_.front().core_of), {}, note()};
    }

   private:
    std::string note() const {
      if (pulse_.stopped()) return std::string(stopped_note);
      return std::string(indifferent_ ? "every placement costs the same" : "");
    }

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
      add(block_placement(ranks, problem_.topology, problem_.capacities));
      if (pulse_.stop_now()) return;
      const bool all_places = problem_.capacities.total() == ranks;
      indifferent_ = all_places && is_uniform_all_to_all(problem_.graph);
      settled_ = indifferent_;
      if (settled_) return;
      add(round_robin_placement(ranks, problem_.topology, problem_.capacities));
      if (pulse_.stop_now()) return;
      const auto grid = recognised_grid(problem_.graph);
      if (grid) {
        if (auto tiled = tiled_placement(problem_, *grid)) add(std::move(*tiled));
        // Where ranks take all places of an even tree and all is regular, nothing better is known than the tiling.
        // Messages may not follow the bytes, by which the grid was recognised.
        const bool bytes_alone = problem_.model != CostModel::time || !problem_.graph.has_messages();
        settled_ = bytes_alone && grid->exact && grid->spread == 0 && all_places &&
                   MachineTree(problem_.topology, problem_.capacities).symmetric() &&
                   problem_.topology.cost_by_bit().has_value();
        if (settled_ || ranks > most_ranks_for_much_at_once) return;
      }
      cut(grid.has_value());
    }

    /// A grid has its tiling among the candidates.
    void cut(bool grid) {
      const multilevel::Program program(problem_);
      if (grid) {
        add(multilevel::moved(problem_, program, candidates_.front().core_of, plan_.cutting.passes));
        if (!plan_.cut_grids) return;
      }
      // Each run takes as much memory as the graph, so the largest programs are cut one run after the other; so is
      // everything where time is limited: one run that ends is worth more than several that do not.
      const bool much = problem_.graph.rank_count() <= most_ranks_for_much_at_once && !run_.deadline.limited();
      const std::size_t at_once = much ? plan_.runs : 1;
      // The first run is cut short when its time is up: that is still better than nothing.
      for (std::size_t done = 0; done < plan_.runs && (done == 0 || !pulse_.stop_now()); done += at_once) {
        std::vector<std::vector<Core>> placements(std::min(at_once, plan_.runs - done));
        parallel_chunks(placements.size(), 1, [&](std::size_t at, std::size_t) {
          auto effort = plan_.cutting;
          effort.cutting.pack = is_roomy(problem_) && (done + at) % 2 == 0;
          placements[at] = multilevel::placement(problem_, program, effort, mix(run_.seed) + done + at);
        });
        for (auto& placement : placements) add(std::move(placement));
      }
    }

    void improve() {
      const std::uint32_t ranks = problem_.graph.rank_count();
      if (ranks <= most_ranks_for_exchanges && !pulse_.stop_now()) {
        Seating seating(problem_, candidates_.front().core_of);
        NeighbourhoodDescent(seating).run(pulse_);
        if (seating.cost() < candidates_.front().cost) add(seating.placement());
      }
      if (plan_.trials == 0 || ranks > most_ranks_for_deep_search || pulse_.stop_now()) return;
      std::vector<std::vector<Core>> starts;
      for (const Candidate& candidate : candidates_) starts.push_back(candidate.core_of);
      const bool to_the_deadline = plan_.to_the_deadline && run_.deadline.limited();
      const std::uint64_t steps = std::max<std::uint64_t>(1, plan_.trials / 1000);
      add(deep_search(problem_, std::move(starts), {.steps = to_the_deadline ? 0 : steps}, run_));
      pulse_.stop_now();
    }

    const MapProblem& problem_;
    const MapRun& run_;
    Plan plan_;
    Pulse pulse_;
    std::vector<Candidate> candidates_;  // the cheapest first
    bool settled_ = false;               // nothing better is to be expected
    bool indifferent_ = false;           // nor anything worse
  };

  Effort effort_ = Effort::balanced;
  bool load_ = false;
  double tolerance_ = 0.03;
};

}  // namespace

std::unique_ptr<Mapper> make_auto() {
  return std::make_unique<Auto>();
}

}  // namespace rankloom
