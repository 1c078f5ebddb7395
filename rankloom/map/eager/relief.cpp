// SPDX-License-Identifier: Apache-2.0
// map/eager: ranks leave overloaded cores for cores that can take them, at the least cost.
#include "rankloom/map/eager/relief.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "rankloom/map/eager/room_tree.hpp"

namespace rankloom {
namespace {

/// Partners whose surroundings a rank looks at.
constexpr std::size_t most_partners = 16;

/// Where a rank could go. Cores that are near each other have near numbers, so the nearest core with room is one of the
/// two nearest numbers.
class Destinations {
 public:
  Destinations(Seating& seating, Pulse& pulse)
      : seating_(seating), pulse_(pulse), room(seating.problem().topology.core_count()) {}

  /// The cheapest of the cores looked at; none when no core has room for that load.
  std::optional<Change> best(Rank rank, double load) {
    candidates_.clear();
    look_around(seating_.core_of(rank), load);
    if (candidates_.empty()) return std::nullopt;
    if (!pulse_.stop()) {
      const auto partners = seating_.neighbours(rank);
      const std::size_t looked_at = std::min(partners.size(), most_partners);
      for (std::size_t at = 0; at < looked_at; ++at) {
        look_around(seating_.core_of(partners[at * partners.size() / looked_at]), load);
      }
    }
    std::optional<Change> cheapest;
    for (const Core core : candidates_) {
      if (core == seating_.core_of(rank)) continue;
      const Change change = pulse_.stopped() ? Change{0, rank, core, std::nullopt} : seating_.try_move(rank, core);
      if (!cheapest || change.delta < cheapest->delta) cheapest = change;
      if (pulse_.stopped()) break;
    }
    return cheapest;
  }

 private:
  void look_around(Core centre, double load) {
    for (const auto found : {room.at_or_before(index(centre), load), room.at_or_after(index(centre), load)}) {
      if (found && std::find(candidates_.begin(), candidates_.end(), Core{*found}) == candidates_.end()) {
        candidates_.push_back(Core{*found});
      }
    }
  }

  Seating& seating_;
  Pulse& pulse_;
  std::vector<Core> candidates_;

 public:
  RoomTree room;  ///< By core; the owner keeps it.
};

class Relief {
 public:
  Relief(Seating& seating, LoadLimit& limit, Pulse& pulse) : seating_(seating), limit_(limit), to_(seating, pulse) {
    for (const Core core : seating.problem().topology.cores()) note_room(core);
  }

  void run() {
    std::vector<Core> overloaded;
    for (const Core core : seating_.problem().topology.cores()) {
      if (limit_.room_on(core) < 0) overloaded.push_back(core);
    }
    std::stable_sort(overloaded.begin(), overloaded.end(),
                     [&](Core a, Core b) { return limit_.load_on(a) > limit_.load_on(b); });
    for (const Core core : overloaded) {
      while (limit_.room_on(core) < 0 && lighten(core)) continue;
    }
  }

 private:
  struct Offer {
    double price;  // cost for each unit of load that has to go
    Change change;
  };

  void note_room(Core core) {
    to_.room.set(index(core), seating_.has_room(core) ? limit_.room_on(core) : RoomTree::none);
  }

  /// One round over the core's ranks, the cheapest first; true when somebody went.
  bool lighten(Core core) {
    offers_.clear();
    const CommGraph& graph = seating_.problem().graph;
    for (auto rank = seating_.first_on(core); rank; rank = seating_.next_on_core(*rank)) {
      const double load = graph.load(*rank);
      if (load <= 0) continue;
      const auto change = to_.best(*rank, load);
      if (change) offers_.push_back({change->delta / std::min(load, -limit_.room_on(core)), *change});
    }
    std::sort(offers_.begin(), offers_.end(), [](const Offer& a, const Offer& b) {
      return a.price != b.price ? a.price < b.price : a.change.rank < b.change.rank;
    });
    bool somebody = false;
    for (const Offer& offer : offers_) {
      if (limit_.room_on(core) >= 0) break;
      const Core to = offer.change.to;
      if (to_.room[index(to)] < graph.load(offer.change.rank)) continue;  // somebody else was quicker
      limit_.apply(offer.change, seating_);
      seating_.apply(offer.change);
      note_room(core);
      note_room(to);
      somebody = true;
    }
    return somebody;
  }

  Seating& seating_;
  LoadLimit& limit_;
  Destinations to_;
  std::vector<Offer> offers_;
};

}  // namespace

void relieve(Seating& seating, LoadLimit& limit, Pulse& pulse) {
  Relief(seating, limit, pulse).run();
}

void reseat_by_falling_load(Seating& seating, LoadLimit& limit, Pulse& pulse) {
  const MapProblem& problem = seating.problem();
  std::vector<Rank> order(problem.graph.ranks().begin(), problem.graph.ranks().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return problem.graph.load(a) > problem.graph.load(b); });
  Destinations to(seating, pulse);  // its rooms are those beside the ranks that were asked
  for (const Core core : problem.topology.cores()) {
    to.room.set(index(core), problem.capacities[core] > 0 ? limit.limit() : RoomTree::none);
  }
  for (const Rank rank : order) {
    const double load = problem.graph.load(rank);
    if (to.room[index(seating.core_of(rank))] < load) {
      if (const auto change = to.best(rank, load)) {
        limit.apply(*change, seating);
        seating.apply(*change);
      }
    }
    const std::uint32_t core = index(seating.core_of(rank));
    to.room.set(core, to.room[core] - load);
  }
}

}  // namespace rankloom
