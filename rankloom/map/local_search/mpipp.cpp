// SPDX-License-Identifier: Apache-2.0
// map/local_search: MPIPP (Chen et al. 2006), as Cruz 2019 compares with it: from a random placement, always the best
// exchange until none gains; several times, and the best of all.
//
// Beyond that description, every local optimum is kicked some times (see steepest_descent.hpp), which is worth more
// than as many restarts, and free cores are partners too. The restarts are independent and run side by side; the first
// of equals wins, so the result does not depend on the number of threads. Looking at every pair is for small programs:
// where a table of all exchanges would be too large, a restart goes down by the neighbourhood search of `refine`
// instead, whose cost grows with the edges.
#include <algorithm>
#include <atomic>
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
    struct Attempt {
      std::vector<Core> core_of;
      double cost = 0;
      bool done = false, stopped = false;
    };
    const Senders senders(problem.graph);
    std::vector<Attempt> attempts(restarts_);
    std::atomic<std::uint64_t> finished = 0;
    const auto caller = std::this_thread::get_id();
    parallel_chunks(restarts_, 1, [&](std::size_t restart, std::size_t) {
      // The first one always gives a result, however short the time.
      if (restart > 0 && run.deadline.passed()) return;
      auto [core_of, cost, stopped] = descend(problem, senders, run, restart);
      attempts[restart] = {std::move(core_of), cost, true, stopped};
      const double fraction = static_cast<double>(++finished) / static_cast<double>(restarts_);
      if (std::this_thread::get_id() == caller) run.progress.report("mpipp", fraction);
    });
    const auto best = std::min_element(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) {
      return a.done != b.done ? a.done : a.done && a.cost < b.cost;
    });
    const bool stopped =
        std::any_of(attempts.begin(), attempts.end(), [](const Attempt& a) { return a.stopped || !a.done; });
    return Placement{std::move(best->core_of), {}, std::string(stopped ? stopped_note : "")};
  }

 private:
  struct Descent {
    std::vector<Core> core_of;
    double cost;
    bool stopped;
  };

  Descent descend(const MapProblem& problem, const Senders& senders, const MapRun& run, std::uint64_t restart) const {
    Random random(run.seed, restart);
    Seating seating(problem, random_placement(problem.graph.rank_count(), problem.topology, problem.slots, random));
    Pulse pulse(run.deadline);
    descend_steepest(seating, senders, kicks_, random, pulse);
    return {seating.placement(), seating.cost(), pulse.stopped()};
  }

  std::uint64_t restarts_ = 10;
  std::uint64_t kicks_ = 30;
};

}  // namespace

std::unique_ptr<Mapper> make_mpipp() {
  return std::make_unique<Mpipp>();
}

}  // namespace rankloom
