// SPDX-License-Identifier: Apache-2.0
// map/local_search: a placement that stays near the start where leaving does not pay.
#include "rankloom/map/local_search/move_price.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/near_order.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Exchanges in a row that are tried before they must have paid.
constexpr std::size_t longest_chain = 64;
constexpr int most_passes = 8;

/// Lets parts that are alike change places.
class Renaming {
 public:
  Renaming(const MapProblem& problem, std::vector<Core> core_of)
      : problem_(problem), tree_(problem.topology, problem.capacities), core_of_(std::move(core_of)) {}

  std::vector<Core> run() && {
    std::vector<Rank> everybody(problem_.graph.ranks().begin(), problem_.graph.ranks().end());
    descend(tree_.root(), std::move(everybody));
    return std::move(core_of_);
  }

 private:
  /// The ranks are those on this part.
  void descend(const Part& parent, std::vector<Rank> ranks) {
    if (ranks.empty() || parent.is_core()) return;
    const auto parts = tree_.children(parent);
    if (alike(parent)) exchange(parts, ranks);
    std::vector<std::vector<Rank>> on_part(parts.size());
    for (const Rank rank : ranks) on_part[part_of(parts, core_of_[index(rank)])].push_back(rank);
    std::vector<Rank>().swap(ranks);
    for (std::size_t part = 0; part < parts.size(); ++part) descend(parts[part], std::move(on_part[part]));
  }

  /// All parts below have the same shape, the same room, and the same costs inside and between them.
  bool alike(const Part& parent) const {
    if (has_network(tree_, parent) || !tree_.symmetric(parent)) return false;
    const auto levels = problem_.topology.levels().subspan(parent.next_level);
    return std::all_of(levels.begin(), levels.end(),
                       [](const Topology::Level& level) { return level.cost.has_value() || level.is_private(); });
  }

  void exchange(const std::vector<Part>& parts, const std::vector<Rank>& ranks) {
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> shared;  // by part now and at the start
    for (const Rank rank : ranks) {
      const Core home = problem_.start[index(rank)];
      if (index(home) < parts.front().begin || index(home) >= parts.back().end) continue;
      ++shared[{part_of(parts, core_of_[index(rank)]), part_of(parts, home)}];
    }
    std::vector<std::tuple<std::uint64_t, std::size_t, std::size_t>> wishes;
    for (const auto& [pair, count] : shared) wishes.emplace_back(count, pair.first, pair.second);
    std::stable_sort(wishes.begin(), wishes.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    const std::size_t none = parts.size();
    std::vector<std::size_t> name(parts.size(), none);
    std::vector<bool> given(parts.size(), false);
    for (const auto& [count, now, home] : wishes) {
      if (name[now] != none || given[home]) continue;
      name[now] = home;
      given[home] = true;
    }
    std::size_t next = 0;
    for (std::size_t& one : name) {
      if (one != none) continue;
      while (given[next]) ++next;
      one = next++;
    }
    for (const Rank rank : ranks) {
      Core& core = core_of_[index(rank)];
      const std::size_t now = part_of(parts, core);
      core = Core{index(core) - parts[now].begin + parts[name[now]].begin};
    }
  }

  static std::size_t part_of(const std::vector<Part>& parts, Core core) {
    const auto after = std::upper_bound(parts.begin(), parts.end(), index(core),
                                        [](std::uint32_t at, const Part& part) { return at < part.begin; });
    return static_cast<std::size_t>(after - parts.begin()) - 1;
  }

  const MapProblem& problem_;
  MachineTree tree_;
  std::vector<Core> core_of_;
};

/// Brings ranks home where that pays.
class Homecoming {
 public:
  Homecoming(const MapProblem& problem, std::span<const Core> core_of)
      : problem_(problem), seating_(problem, core_of), seen_(problem.graph.rank_count(), -1) {}

  std::vector<Core> run(const Deadline& deadline) {
    for (int pass = 0; pass < most_passes; ++pass) {
      bool gained = false;
      for (const Rank rank : problem_.graph.ranks()) {
        if (deadline.passed()) return seating_.placement();
        // Whoever was in a chain that did not pay would begin the same one.
        if (away(rank) && seen_[rank] != pass) gained |= chain(rank, pass);
      }
      if (!gained) break;
    }
    return seating_.placement();
  }

 private:
  bool away(Rank rank) const { return seating_.core_of(rank) != problem_.start[index(rank)]; }

  /// The rank goes home, whoever it drives away does so too, and so on; as many of these steps as pay together.
  bool chain(Rank rank, int pass) {
    struct Undo {
      Rank rank;
      Core from;
      std::optional<Rank> partner;
    };
    std::vector<Undo> steps;
    double total = 0, best = 0;
    std::size_t kept = 0;
    while (steps.size() < longest_chain) {
      seen_[rank] = pass;
      const Core home = problem_.start[index(rank)];
      const auto driven = seating_.has_room(home) ? std::nullopt : driven_from(home);
      if (!seating_.has_room(home) && !driven) break;
      const Change change = driven ? seating_.try_swap(rank, *driven) : seating_.try_move(rank, home);
      steps.push_back({rank, seating_.core_of(rank), driven});
      const bool from_home = driven && !away(*driven);
      seating_.apply(change);
      const bool to_home = driven && !away(*driven);
      total += change.delta + problem_.move_price * ((from_home ? 1 : 0) - (to_home ? 1 : 0) - 1);
      if (seating_.is_gain(total - best)) {
        best = total;
        kept = steps.size();
      }
      if (!driven || from_home || to_home) break;  // whoever was at home would only come back
      rank = *driven;
    }
    for (; steps.size() > kept; steps.pop_back()) {
      const Undo& last = steps.back();
      seating_.apply(last.partner ? seating_.try_swap(last.rank, *last.partner)
                                  : seating_.try_move(last.rank, last.from));
    }
    return kept > 0;
  }

  /// Somebody who is not at home there, if anybody.
  std::optional<Rank> driven_from(Core core) const {
    std::optional<Rank> found = seating_.first_on(core);
    for (auto rank = found; rank; rank = seating_.next_on_core(*rank)) {
      if (away(*rank)) return rank;
    }
    return found;
  }

  const MapProblem& problem_;
  Seating seating_;
  IdVector<Rank, int> seen_;  // the pass in which it was last part of a chain
};

}  // namespace

std::uint64_t moved_ranks(std::span<const Core> from, std::span<const Core> to) {
  assert(from.size() == to.size());
  std::uint64_t moved = 0;
  for (std::size_t rank = 0; rank < from.size(); ++rank) moved += from[rank] != to[rank] ? 1 : 0;
  return moved;
}

double priced_cost(const MapProblem& problem, std::span<const Core> core_of) {
  const double value = evaluate(problem.graph, problem.topology, core_of, problem.model);
  const std::uint64_t moved = problem.start.empty() ? 0 : moved_ranks(problem.start, core_of);
  return objective(problem.model, value) + problem.move_price * static_cast<double>(moved);
}

std::vector<Core> renamed_towards_start(const MapProblem& problem, std::vector<Core> core_of) {
  return Renaming(problem, std::move(core_of)).run();
}

std::vector<Core> worth_moving(const MapProblem& problem, std::vector<Core> core_of, const Deadline& deadline) {
  assert(problem.start.size() == core_of.size());
  auto renamed = renamed_towards_start(problem, core_of);
  auto settled = Homecoming(problem, renamed).run(deadline);
  std::vector<Core> start(problem.start.begin(), problem.start.end());
  std::vector<Core>* best = &start;
  double least = priced_cost(problem, start);
  for (std::vector<Core>* const one : {&settled, &renamed, &core_of}) {
    const double cost = priced_cost(problem, *one);
    if (cost < least) std::tie(best, least) = std::pair(one, cost);
  }
  return std::move(*best);
}

}  // namespace rankloom
