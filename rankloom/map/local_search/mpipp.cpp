// SPDX-License-Identifier: Apache-2.0
// map/local_search: MPIPP (Chen et al. 2006), as Cruz 2019, 4.5, describes it: from a random placement, apply the best
// exchange until there is no gain; restart several times and keep the best result.
//
// Departures from that description: every local optimum is perturbed some times (see steepest_descent.hpp), which gains
// more than the same number of restarts, and free slots take part in exchanges. The restarts are independent and run in
// parallel; among equals the first restart wins, so the result does not depend on the number of threads. Evaluating all
// pairs suits small programs: where the table of all exchanges would be too large, a restart uses the neighbourhood
// descent of `refine` instead, whose cost is proportional to the edges.
#include <mutex>
#include <optional>
#include <thread>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

class Mpipp final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count("restarts", restarts_, "number of random placements to start from", 1, 1'000'000);
    options.count("kicks", kicks_, "number of random perturbations of each local optimum (iterated local search)");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const ReverseAdjacency reverse_adjacency(problem.graph);
    const auto caller = std::this_thread::get_id();
    std::mutex mutex;  // protects best, finished and stopped
    std::optional<Attempt> best;
    std::uint64_t finished = 0;
    bool stopped = false;
    parallel_chunks(restarts_, 1, [&](std::size_t restart, std::size_t) {
      // Only the caller's thread may report progress.
      StopCondition stop_condition =
          std::this_thread::get_id() == caller ? StopCondition(run, "mpipp") : StopCondition(run.deadline);
      {
        const std::lock_guard lock(mutex);
        // The first restart always produces a result, even if the deadline has passed.
        if (best && run.deadline.passed()) return void(stopped = true);
        stop_condition.set_fraction(static_cast<double>(finished) / static_cast<double>(restarts_));
      }
      Attempt attempt = descend(problem, reverse_adjacency, run.seed, restart, stop_condition);
      const std::lock_guard lock(mutex);
      ++finished;
      stopped = stopped || stop_condition.stopped();
      if (!best || attempt.is_better_than(*best)) best = std::move(attempt);
    });
    return Placement{std::move(best->core_of), {}, std::string(stopped ? stopped_note : "")};
  }

 private:
  struct Attempt {
    double cost;
    std::uint64_t restart;
    std::vector<Core> core_of;
    bool is_better_than(const Attempt& other) const {
      return std::pair(cost, restart) < std::pair(other.cost, other.restart);
    }
  };

  Attempt descend(const MapProblem& problem, const ReverseAdjacency& reverse_adjacency, std::uint64_t seed,
                  std::uint64_t restart, StopCondition& stop_condition) const {
    Random random(seed, restart);
    PlacementState state(problem,
                         random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, random));
    descend_steepest(state, reverse_adjacency, kicks_, random, stop_condition);
    return {state.cost(), restart, state.placement()};
  }

  std::uint64_t restarts_ = 10;
  std::uint64_t kicks_ = 30;
};

}  // namespace

std::unique_ptr<Mapper> make_mpipp() {
  return std::make_unique<Mpipp>();
}

}  // namespace rankloom
