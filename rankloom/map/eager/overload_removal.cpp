// SPDX-License-Identifier: Apache-2.0
// map/eager: removes overload: by moves at the lowest cost, and by repacking the smallest part of the machine that can
// hold the loads within the limit.
#include "rankloom/map/eager/overload_removal.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "rankloom/core/max_segment_tree.hpp"
#include "rankloom/map/eager/bin_packing.hpp"
#include "rankloom/map/machine/machine_tree.hpp"

namespace rankloom {
namespace {

using FreeLoads = MaxSegmentTree<double>;

/// The most partners whose surroundings are searched for a destination.
constexpr std::size_t max_partners = 16;

/// Finds destinations for ranks. Close cores have similar numbers, so the closest core with enough spare capacity is
/// assumed to be the next one with a lower or a higher number.
class DestinationSearch {
 public:
  DestinationSearch(PlacementState& state, StopCondition& stop_condition)
      : state_(state), stop_condition_(stop_condition), free_load(state.problem().topology.core_count()) {}

  /// The move with the lowest cost among the candidates; empty when no core has enough spare capacity.
  std::optional<Change> best(Rank rank, double load) {
    candidates_.clear();
    add_candidates_around(state_.core_of(rank), load);
    if (candidates_.empty()) return std::nullopt;
    if (!stop_condition_.should_stop()) {
      const auto partners = state_.neighbours(rank);
      const std::size_t count = std::min(partners.size(), max_partners);
      for (std::size_t at = 0; at < count; ++at) {
        add_candidates_around(state_.core_of(partners[at * partners.size() / count]), load);
      }
    }
    std::optional<Change> cheapest;
    for (const Core core : candidates_) {
      if (core == state_.core_of(rank)) continue;
      const Change change =
          stop_condition_.stopped() ? Change{0, rank, core, std::nullopt} : state_.try_move(rank, core);
      if (!cheapest || change.delta < cheapest->delta) cheapest = change;
      if (stop_condition_.stopped()) break;
    }
    return cheapest;
  }

 private:
  void add_candidates_around(Core centre, double load) {
    for (const auto core :
         {free_load.last_at_or_before(index(centre), load), free_load.first_at_or_after(index(centre), load)}) {
      if (core && std::find(candidates_.begin(), candidates_.end(), Core{*core}) == candidates_.end()) {
        candidates_.push_back(Core{*core});
      }
    }
  }

  PlacementState& state_;
  StopCondition& stop_condition_;
  std::vector<Core> candidates_;

 public:
  FreeLoads free_load;  ///< By core; the owner of the search keeps it up to date.
};

class Offloading {
 public:
  Offloading(PlacementState& state, LoadLimit& limit, StopCondition& stop_condition)
      : state_(state), limit_(limit), destinations_(state, stop_condition) {
    for (const Core core : state.problem().topology.cores()) update_free_load(core);
  }

  void run() {
    std::vector<Core> overloaded;
    for (const Core core : state_.problem().topology.cores()) {
      if (limit_.free_load_on(core) < 0) overloaded.push_back(core);
    }
    std::stable_sort(overloaded.begin(), overloaded.end(),
                     [&](Core a, Core b) { return limit_.load_on(a) > limit_.load_on(b); });
    for (const Core core : overloaded) {
      while (limit_.free_load_on(core) < 0 && offload(core)) continue;
    }
  }

 private:
  struct Offer {
    double cost_per_load;  // cost of the move per unit of overload that it removes
    Change change;
  };

  void update_free_load(Core core) {
    destinations_.free_load.set(index(core), state_.has_free_slot(core) ? limit_.free_load_on(core) : FreeLoads::none);
  }

  /// One pass over the core's ranks, the lowest cost per load first; true when a rank moved.
  bool offload(Core core) {
    offers_.clear();
    const CommGraph& graph = state_.problem().graph;
    for (auto rank = state_.first_on(core); rank; rank = state_.next_on_core(*rank)) {
      const double load = graph.load(*rank);
      if (load <= 0) continue;
      const auto change = destinations_.best(*rank, load);
      if (change) offers_.push_back({change->delta / std::min(load, -limit_.free_load_on(core)), *change});
    }
    std::sort(offers_.begin(), offers_.end(), [](const Offer& a, const Offer& b) {
      return a.cost_per_load != b.cost_per_load ? a.cost_per_load < b.cost_per_load : a.change.rank < b.change.rank;
    });
    bool moved = false;
    for (const Offer& offer : offers_) {
      if (limit_.free_load_on(core) >= 0) break;
      const Core to = offer.change.to;
      if (destinations_.free_load[index(to)] < graph.load(offer.change.rank)) continue;  // used by an earlier offer
      limit_.apply(offer.change, state_);
      state_.apply(offer.change);
      update_free_load(core);
      update_free_load(to);
      moved = true;
    }
    return moved;
  }

  PlacementState& state_;
  LoadLimit& limit_;
  DestinationSearch destinations_;
  std::vector<Offer> offers_;
};

struct CommonLoad {
  std::uint32_t bin, core;
  double load;
};

/// The load that each bin has in common with each core, the largest first.
std::vector<CommonLoad> common_loads(std::span<const std::uint32_t> bin_of, std::span<const Core> current,
                                     std::span<const double> loads) {
  std::vector<CommonLoad> pairs;
  for (std::uint32_t rank = 0; rank < bin_of.size(); ++rank) {
    pairs.push_back({bin_of[rank], index(current[rank]), loads[rank]});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const CommonLoad& a, const CommonLoad& b) {
    return a.bin != b.bin ? a.bin < b.bin : a.core < b.core;
  });
  std::vector<CommonLoad> sums;
  for (const CommonLoad& pair : pairs) {
    if (!sums.empty() && sums.back().bin == pair.bin && sums.back().core == pair.core) {
      sums.back().load += pair.load;
    } else {
      sums.push_back(pair);
    }
  }
  std::stable_sort(sums.begin(), sums.end(), [](const CommonLoad& a, const CommonLoad& b) { return a.load > b.load; });
  return sums;
}

class Repacking {
 public:
  Repacking(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
            std::span<const std::uint32_t> max_ranks, double limit, std::vector<Core>& core_of)
      : tree_(topology, capacities),
        loads_(loads),
        max_ranks_(max_ranks),
        limit_(limit),
        core_of_(core_of),
        ranks_on_(max_ranks.size()),
        load_on_(max_ranks.size(), 0.0) {
    for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) assign(rank, index(core_of[rank]));
  }

  double run() {
    repack(tree_.root());
    return load_on_.empty() ? 0 : *std::max_element(load_on_.begin(), load_on_.end());
  }

 private:
  void assign(std::uint32_t rank, std::uint32_t core) {
    core_of_[rank] = Core{core};
    ranks_on_[core].push_back(rank);
    load_on_[core] += loads_[rank];
  }

  bool has_overloaded_core(const MachineTree::Part& part) const {
    return std::any_of(load_on_.begin() + part.begin, load_on_.begin() + part.end,
                       [&](double load) { return load > limit_; });
  }

  void repack(const MachineTree::Part& part) {
    if (part.is_core() || !has_overloaded_core(part)) return;
    for (const auto& child : tree_.children(part)) repack(child);
    if (!has_overloaded_core(part)) return;
    std::vector<std::uint32_t> ranks;
    std::vector<double> loads;
    std::vector<Core> current;  // by index in `ranks`: the core, counted from the part's first core
    double total = 0;
    for (std::uint32_t core = part.begin; core < part.end; ++core) {
      for (const std::uint32_t rank : ranks_on_[core]) {
        ranks.push_back(rank);
        loads.push_back(loads_[rank]);
        current.push_back(Core{core - part.begin});
        total += loads_[rank];
      }
    }
    const bool is_machine = part == tree_.root();
    if (!is_machine && total > limit_ * part.core_count()) return;
    const auto max_ranks = max_ranks_.subspan(part.begin, part.core_count());
    Packing packing{{}, 0};
    for (const Core core : current) packing.bin_of.push_back(index(core));
    balance_bins(loads, max_ranks, limit_, packing);
    if (packing.max_load > limit_) {
      Packing new_packing = pack_bins(loads, max_ranks, limit_);
      if (new_packing.max_load > limit_ && !is_machine) return;
      if (new_packing.max_load < packing.max_load) {
        packing.bin_of = match_bins_to_cores(new_packing.bin_of, current, loads, max_ranks);
      }
    }
    for (std::uint32_t core = part.begin; core < part.end; ++core) {
      ranks_on_[core].clear();
      load_on_[core] = 0;
    }
    for (std::size_t at = 0; at < ranks.size(); ++at) assign(ranks[at], part.begin + packing.bin_of[at]);
  }

  MachineTree tree_;
  std::span<const double> loads_;
  std::span<const std::uint32_t> max_ranks_;
  double limit_;
  std::vector<Core>& core_of_;
  std::vector<std::vector<std::uint32_t>> ranks_on_;
  std::vector<double> load_on_;
};

}  // namespace

void offload_overloaded_cores(PlacementState& state, LoadLimit& limit, StopCondition& stop_condition) {
  Offloading(state, limit, stop_condition).run();
}

void reassign_by_decreasing_load(PlacementState& state, LoadLimit& limit, StopCondition& stop_condition) {
  const MapProblem& problem = state.problem();
  std::vector<Rank> order(problem.graph.ranks().begin(), problem.graph.ranks().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return problem.graph.load(a) > problem.graph.load(b); });
  DestinationSearch destinations(state, stop_condition);  // counts only the ranks that have been assigned
  FreeLoads& free_load = destinations.free_load;
  for (const Core core : problem.topology.cores()) {
    free_load.set(index(core), problem.capacities[core] > 0 ? limit.limit() : FreeLoads::none);
  }
  for (const Rank rank : order) {
    const double load = problem.graph.load(rank);
    if (free_load[index(state.core_of(rank))] < load) {
      if (const auto change = destinations.best(rank, load)) {
        limit.apply(*change, state);
        state.apply(*change);
      }
    }
    const std::uint32_t core = index(state.core_of(rank));
    free_load.set(core, free_load[core] - load);
  }
}

std::vector<std::uint32_t> match_bins_to_cores(std::span<const std::uint32_t> bin_of, std::span<const Core> current,
                                               std::span<const double> loads,
                                               std::span<const std::uint32_t> max_ranks) {
  constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> core_of_bin(max_ranks.size(), none);
  std::vector<bool> matched(max_ranks.size(), false);
  const auto match = [&](std::uint32_t bin, std::uint32_t core) {
    if (core_of_bin[bin] != none || matched[core] || max_ranks[bin] != max_ranks[core]) return;
    core_of_bin[bin] = core;
    matched[core] = true;
  };
  for (const CommonLoad& pair : common_loads(bin_of, current, loads)) match(pair.bin, pair.core);
  // The remaining bins and cores are matched in order. For each value of max_ranks there are as many bins as cores.
  std::vector<std::uint32_t> bins, cores;
  for (std::uint32_t at = 0; at < max_ranks.size(); ++at) {
    if (core_of_bin[at] == none) bins.push_back(at);
    if (!matched[at]) cores.push_back(at);
  }
  const auto by_max_ranks = [&](std::uint32_t a, std::uint32_t b) { return max_ranks[a] < max_ranks[b]; };
  std::stable_sort(bins.begin(), bins.end(), by_max_ranks);
  std::stable_sort(cores.begin(), cores.end(), by_max_ranks);
  for (std::size_t at = 0; at < bins.size(); ++at) match(bins[at], cores[at]);
  std::vector<std::uint32_t> core_of;
  core_of.reserve(bin_of.size());
  for (const std::uint32_t bin : bin_of) core_of.push_back(core_of_bin[bin]);
  return core_of;
}

double repack_overloaded_parts(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
                               std::span<const std::uint32_t> max_ranks, double limit, std::vector<Core>& core_of) {
  return Repacking(topology, capacities, loads, max_ranks, limit, core_of).run();
}

}  // namespace rankloom
