// SPDX-License-Identifier: Apache-2.0
// map/local_search: MPIPP (Chen et al. 2006), as Cruz 2019 compares with it: from a random placement, always the best
// exchange until none gains; several times, and the best of all.
//
// Beyond that description, every local optimum is kicked some times (see steepest_descent.hpp), which is worth more
// than as many restarts, and free cores are partners too. The restarts are independent and run side by side; the first
// of equals wins, so the result does not depend on the number of threads. Looking at every pair is for small programs:
// where a table of all exchanges would be too large, a restart goes down by the neighbourhood search of `refine`
// instead, whose cost grows with the edges.
#include <mutex>
#include <optional>
#include <thread>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/local_search/local_searches.hpp"
#include "rankloom/map/local_search/steepest_descent.hpp"

namespace rankloom {
namespace {

class Mpipp final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count("restarts", restarts_, "random placements to begin from", 1, 1'000'000);
    options.count("kicks", kicks_, "times that each local optimum is disturbed and left for a better one; 0: never");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    const Senders senders(problem.graph);
    const auto caller = std::this_thread::get_id();
    std::mutex mutex;  // for what follows
    std::optional<Attempt> best;
    std::uint64_t finished = 0;
    bool stopped = false;
    parallel_chunks(restarts_, 1, [&](std::size_t restart, std::size_t) {
      // Only the caller's thread may speak to its listener.
      Pulse pulse = std::this_thread::get_id() == caller ? Pulse(run, "mpipp") : Pulse(run.deadline);
      {
        const std::lock_guard lock(mutex);
        // The first one always gives a result, however short the time.
        if (best && run.deadline.passed()) return void(stopped = true);
        pulse.set_fraction(static_cast<double>(finished) / static_cast<double>(restarts_));
      }
      Attempt attempt = descend(problem, senders, run.seed, restart, pulse);
      const std::lock_guard lock(mutex);
      ++finished;
      stopped = stopped || pulse.stopped();
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

  Attempt descend(const MapProblem& problem, const Senders& senders, std::uint64_t seed, std::uint64_t restart,
                  Pulse& pulse) const {
    Random random(seed, restart);
    Seating seating(problem, random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, random));
    descend_steepest(seating, senders, kicks_, random, pulse);
    return {seating.cost(), restart, seating.placement()};
  }

  std::uint64_t restarts_ = 10;
  std::uint64_t kicks_ = 30;
};

}  // namespace

std::unique_ptr<Mapper> make_mpipp() {
  return std::make_unique<Mpipp>();
}

}  // namespace rankloom
