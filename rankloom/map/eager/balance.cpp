// SPDX-License-Identifier: Apache-2.0
// map/eager: from a placement by load to one without overloaded cores.
#include "rankloom/map/eager/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "rankloom/map/eager/packing.hpp"
#include "rankloom/map/eager/relief.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {
namespace {

constexpr double most_imbalance = 0.05;
constexpr double most_cost_increase = 0.1;
/// Sums of loads in another order differ by less.
constexpr double rounding = 1e-9;

class Balancing {
 public:
  Balancing(const MapProblem& problem, const MapRun& run, const std::vector<Core>& start)
      : problem_(problem), pulse_(run, "eager"), start_(start) {
    bound_ = load_balance(problem.graph, problem.topology, start).bound;
    limit_ = bound_ * (1 + most_imbalance) * (1 - rounding);
    for (const Rank rank : problem.graph.ranks()) loads_.push_back(problem.graph.load(rank));
    for (const Core core : problem.topology.cores()) {
      places_.push_back(problem.slots[core]);
      unbounded_ &= places_.back() == 0 || places_.back() >= problem.graph.rank_count();
    }
  }

  Placement run() {
    if (heaviest(start_) <= limit_) return {start_, {}, {}};
    auto core_of = without_overload(start_);
    Seating seating(problem_, core_of);
    LoadLimit limit(problem_.graph, problem_.topology, core_of, limit_);
    NeighbourhoodDescent(seating, &limit).run(pulse_);
    return {seating.placement(), {}, {}};
  }

 private:
  double heaviest(std::span<const Core> core_of) const {
    return load_balance(problem_.graph, problem_.topology, core_of).heaviest_core;
  }

  /// From the gentlest way to the last resort, until no core is above the limit. The limit rises when no packing of
  /// the loads can keep it.
  std::vector<Core> without_overload(const std::vector<Core>& from) {
    auto core_of = relieved(from, limit_);
    if (heaviest(core_of) <= limit_) return core_of;
    Packing packing{{}, 0};
    for (const Core core : core_of) packing.bin_of.push_back(index(core));
    even_out(loads_, places_, limit_, packing);
    if (packing.heaviest <= limit_) return cores(packing.bin_of);
    packing = pack(loads_, places_, limit_);
    if (packing.heaviest > limit_) {
      limit_ = packing.heaviest * (1 + most_imbalance) * (1 - rounding);
      core_of = relieved(from, limit_);
      if (heaviest(core_of) <= limit_) return core_of;
    }
    return near_home(packing.bin_of, from);
  }

  std::vector<Core> relieved(const std::vector<Core>& from, double most) {
    Seating seating(problem_, from);
    LoadLimit limit(problem_.graph, problem_.topology, from, most);
    relieve(seating, limit, pulse_);
    if (unbounded_ && heaviest(seating.placement()) > most) reseat_by_falling_load(seating, limit, pulse_);
    return seating.placement();
  }

  static std::vector<Core> cores(std::span<const std::uint32_t> bin_of) {
    std::vector<Core> core_of;
    core_of.reserve(bin_of.size());
    for (const std::uint32_t bin : bin_of) core_of.push_back(Core{bin});
    return core_of;
  }

  /// Bins become cores so that much load stays where it was: the pairs of a bin and a core by falling common load.
  /// Bins with as many places only.
  std::vector<Core> near_home(std::span<const std::uint32_t> bin_of, std::span<const Core> home) const {
    struct Common {
      std::uint32_t bin, core;
      double load;
    };
    std::vector<Common> pairs;
    for (std::uint32_t rank = 0; rank < bin_of.size(); ++rank) {
      pairs.push_back({bin_of[rank], index(home[rank]), loads_[rank]});
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Common& a, const Common& b) { return a.bin != b.bin ? a.bin < b.bin : a.core < b.core; });
    std::size_t last = 0;
    for (std::size_t at = 1; at < pairs.size(); ++at) {
      if (pairs[at].bin == pairs[last].bin && pairs[at].core == pairs[last].core) {
        pairs[last].load += pairs[at].load;
      } else {
        pairs[++last] = pairs[at];
      }
    }
    pairs.resize(std::min(pairs.size(), last + 1));
    std::stable_sort(pairs.begin(), pairs.end(), [](const Common& a, const Common& b) { return a.load > b.load; });
    std::vector<std::optional<Core>> core_for(places_.size());
    std::vector<bool> taken(places_.size(), false);
    const auto join = [&](std::uint32_t bin, std::uint32_t core) {
      if (core_for[bin] || taken[core] || places_[bin] != places_[core]) return;
      core_for[bin] = Core{core};
      taken[core] = true;
    };
    for (const Common& pair : pairs) join(pair.bin, pair.core);
    // Whoever is left takes what is left, in order; for each number of places there are as many of both.
    std::vector<std::uint32_t> bins, free;
    for (std::uint32_t at = 0; at < places_.size(); ++at) {
      if (!core_for[at]) bins.push_back(at);
      if (!taken[at]) free.push_back(at);
    }
    const auto by_places = [&](std::uint32_t a, std::uint32_t b) { return places_[a] < places_[b]; };
    std::stable_sort(bins.begin(), bins.end(), by_places);
    std::stable_sort(free.begin(), free.end(), by_places);
    for (std::size_t at = 0; at < bins.size(); ++at) join(bins[at], free[at]);
    std::vector<Core> core_of;
    for (const std::uint32_t bin : bin_of) core_of.push_back(*core_for[bin]);
    return core_of;
  }

  const MapProblem& problem_;
  Pulse pulse_;
  const std::vector<Core>& start_;
  double bound_, limit_;
  std::vector<double> loads_;          // by rank
  std::vector<std::uint32_t> places_;  // by core
  bool unbounded_ = true;
};

}  // namespace

Placement balanced(const MapProblem& problem, const MapRun& run, std::vector<Core> start) {
  return Balancing(problem, run, start).run();
}

}  // namespace rankloom
