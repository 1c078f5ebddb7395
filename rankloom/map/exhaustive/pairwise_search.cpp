// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: branch and bound for the models that are sums over pairs.
//
// Bound: Gilmore 1962, Lawler 1963, for fewer tasks than places. With some tasks placed, a task i that waits and a core
// p with room cost at least
//     c(i,p) = its traffic with the placed tasks + its traffic with the waiting ones, the heaviest over the shortest
//     distances
// (the least scalar product), and a placement of all waiting tasks costs at least the linear assignment over c. The
// prices of the assignment bound every child too, so most are cut without a look, and they tell on which task to
// branch: the one whose places are dearest in sum.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rankloom/map/exhaustive/linear_assignment.hpp"
#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/exhaustive/twins.hpp"

namespace rankloom {
namespace {

using Index = std::uint32_t;
constexpr Index none = std::numeric_limits<Index>::max();

class PairwiseSearch {
 public:
  PairwiseSearch(const SmallProblem& problem, const Symmetry& symmetry, SearchBudget& budget, Incumbent& incumbent)
      : problem_(problem),
        symmetry_(symmetry),
        budget_(budget),
        incumbent_(incumbent),
        twins_(problem),
        core_of_(problem.tasks(), none),
        occupants_(problem.cores(), 0),
        levels_(problem.tasks() + 1) {
    sort_traffic();
    sort_distances();
    price_the_forbidden();
    Level& root = levels_[0];
    root.attached.resize(std::size_t{problem.tasks()} * problem.cores());
    for (Index task = 0; task < problem.tasks(); ++task) {
      for (Index core = 0; core < problem.cores(); ++core) attached(root, task, core) = problem.self_cost(task, core);
    }
  }

  double run() {
    const double root_bound = visit(0, 0);
    return budget_.spent() ? std::min(root_bound, incumbent_.cost) : incumbent_.cost;
  }

 private:
  /// What one depth of the search works with.
  struct Level {
    std::vector<double>
        attached;                // by task and core: the task's traffic with itself and all placed tasks, if put there
    std::vector<Index> waiting;  // tasks
    std::vector<Index> open;     // cores with room
    std::vector<Index> seat_core;  // cores with room, as often as they have room for waiting tasks
    std::vector<double> cost;      // the table of the assignment: waiting x seats
    Assignment assignment;
    std::vector<bool> representative;
    struct Child {
      double bound;
      Index core;
    };
    std::vector<Child> children;
  };

  double& attached(Level& level, Index task, Index core) const {
    return level.attached[task * problem_.cores() + core];
  }

  /// Below this it would be a better placement, beyond rounding.
  double threshold() const { return incumbent_.cost - 1e-12 * std::abs(incumbent_.cost); }

  void sort_traffic();
  void sort_distances();
  void price_the_forbidden();
  double visit(Index depth, double partial);
  void list_what_is_left(Level& level) const;
  void fill_costs(Level& level);
  void least_distances(Index core, std::size_t count);
  Index choose_task(Level& level, double bound, double spare);
  void place_last(Level& level, double partial);

  const SmallProblem& problem_;
  const Symmetry& symmetry_;
  SearchBudget& budget_;
  Incumbent& incumbent_;
  Twins twins_;
  double forbidden_ = 0;  // dearer than any placement, but not so large that sums lose their last digits
  std::vector<Index> core_of_;
  std::vector<Index> occupants_;
  std::vector<Level> levels_;

  struct Ranked {
    double amount;
    Index other;
  };
  // By task, heaviest first, and by core, nearest first; the second of each for messages.
  std::vector<std::vector<Ranked>> bytes_of_, messages_of_, gaps_of_, latencies_of_;
  std::vector<double> heaviest_bytes_, heaviest_messages_, least_gaps_, least_latencies_;  // scratch
};

/// Each direction of a pair's traffic is counted once: where it starts, or, if distances are symmetric, half at each
/// end, which balances the bound.
void PairwiseSearch::sort_traffic() {
  const auto ranked = [&](Index task, const auto& amount) {
    std::vector<Ranked> row;
    for (Index other = 0; other < problem_.tasks(); ++other) {
      if (other == task) continue;
      const double out = amount(task, other);
      row.push_back({problem_.symmetric_distances() ? (out + amount(other, task)) / 2 : out, other});
    }
    std::stable_sort(row.begin(), row.end(), [](const Ranked& a, const Ranked& b) { return a.amount > b.amount; });
    return row;
  };
  for (Index task = 0; task < problem_.tasks(); ++task) {
    bytes_of_.push_back(ranked(task, [&](Index i, Index j) { return problem_.bytes(i, j); }));
    messages_of_.push_back(ranked(task, [&](Index i, Index j) { return problem_.messages(i, j); }));
  }
}

void PairwiseSearch::sort_distances() {
  const auto ranked = [&](Index core, const auto& amount) {
    std::vector<Ranked> row;
    for (Index other = 0; other < problem_.cores(); ++other)
      row.push_back({amount(problem_.distance(core, other)), other});
    std::stable_sort(row.begin(), row.end(), [](const Ranked& a, const Ranked& b) { return a.amount < b.amount; });
    return row;
  };
  for (Index core = 0; core < problem_.cores(); ++core) {
    gaps_of_.push_back(ranked(core, [](const PairCost& pair) { return pair.per_byte; }));
    latencies_of_.push_back(ranked(core, [](const PairCost& pair) { return pair.per_message; }));
  }
}

void PairwiseSearch::price_the_forbidden() {
  double most_bytes = 0, most_messages = 0, longest = 0, slowest = 0;
  for (Index i = 0; i < problem_.tasks(); ++i) {
    for (Index j = 0; j < problem_.tasks(); ++j) {
      most_bytes += problem_.bytes(i, j);
      most_messages += problem_.messages(i, j);
    }
  }
  for (Index p = 0; p < problem_.cores(); ++p) {
    for (Index q = 0; q < problem_.cores(); ++q) {
      longest = std::max(longest, std::abs(problem_.distance(p, q).per_byte));
      slowest = std::max(slowest, std::abs(problem_.distance(p, q).per_message));
    }
  }
  // Twice: costs may be negative, so the rest of a placement may earn as much as it could cost.
  forbidden_ = 1 + 2 * (most_bytes * longest + most_messages * slowest);
}

/// Returns the bound of this partial placement, whose tasks cost `partial` among themselves.
double PairwiseSearch::visit(Index depth, double partial) {
  Level& level = levels_[depth];
  if (!budget_.spend()) return partial;
  list_what_is_left(level);
  if (level.waiting.size() <= 1) {
    place_last(level, partial);
    return partial;
  }
  fill_costs(level);
  const double bound = partial + level.assignment.solve(level.cost, level.waiting.size(), level.seat_core.size());
  if (bound >= threshold()) return bound;

  const Index task = choose_task(level, bound, threshold() - bound);
  Level& below = levels_[depth + 1];
  std::size_t tried = 0;
  for (const auto& [child_bound, core] : level.children) {
    if (child_bound >= threshold()) break;
    core_of_[task] = core;
    ++occupants_[core];
    below.attached = level.attached;
    for (const Index other : level.waiting) {
      if (other == task) continue;
      for (const Index place : level.open)
        attached(below, other, place) += problem_.pair_cost(task, core, other, place);
    }
    visit(depth + 1, partial + attached(level, task, core));
    --occupants_[core];
    core_of_[task] = none;
    twins_.remember(task, core);
    ++tried;
    if (budget_.spent()) break;
  }
  for (std::size_t at = 0; at < tried; ++at) twins_.forget(task, level.children[at].core);
  return bound;
}

void PairwiseSearch::list_what_is_left(Level& level) const {
  level.waiting.clear();
  level.open.clear();
  level.seat_core.clear();
  for (Index task = 0; task < problem_.tasks(); ++task) {
    if (core_of_[task] == none) level.waiting.push_back(task);
  }
  for (Index core = 0; core < problem_.cores(); ++core) {
    const Index room = problem_.capacities(core) - occupants_[core];
    if (room == 0) continue;
    level.open.push_back(core);
    level.seat_core.insert(level.seat_core.end(), std::min<std::size_t>(room, level.waiting.size()), core);
  }
}

void PairwiseSearch::fill_costs(Level& level) {
  const std::size_t seats = level.seat_core.size();
  const std::size_t partners = level.waiting.size() - 1;
  level.cost.resize(level.waiting.size() * seats);
  // The waiting tasks' traffic among themselves, each row heaviest first.
  heaviest_bytes_.clear();
  heaviest_messages_.clear();
  for (const Index task : level.waiting) {
    for (const Ranked& entry : bytes_of_[task]) {
      if (core_of_[entry.other] == none) heaviest_bytes_.push_back(entry.amount);
    }
    for (const Ranked& entry : messages_of_[task]) {
      if (core_of_[entry.other] == none) heaviest_messages_.push_back(entry.amount);
    }
  }
  for (std::size_t seat = 0; seat < seats; ++seat) {
    const Index core = level.seat_core[seat];
    const bool again = seat > 0 && level.seat_core[seat - 1] == core;
    if (!again) least_distances(core, partners);
    for (std::size_t row = 0; row < level.waiting.size(); ++row) {
      double& cost = level.cost[row * seats + seat];
      if (again || twins_.seen(level.waiting[row], core)) {
        cost = again ? level.cost[row * seats + seat - 1] : forbidden_;
        continue;
      }
      cost = attached(level, level.waiting[row], core);
      const double* const bytes = heaviest_bytes_.data() + row * partners;
      for (std::size_t at = 0; at < partners; ++at) cost += bytes[at] * least_gaps_[at];
      if (problem_.bytes_only()) continue;
      const double* const messages = heaviest_messages_.data() + row * partners;
      for (std::size_t at = 0; at < partners; ++at) cost += messages[at] * least_latencies_[at];
    }
  }
}

/// From a task on this core to the nearest places that the others could take.
void PairwiseSearch::least_distances(Index core, std::size_t count) {
  const auto collect = [&](const std::vector<Ranked>& nearest, std::vector<double>& least) {
    least.clear();
    for (const Ranked& entry : nearest) {
      Index room = problem_.capacities(entry.other) - occupants_[entry.other] - (entry.other == core ? 1 : 0);
      for (; room > 0 && least.size() < count; --room) least.push_back(entry.amount);
      if (least.size() == count) return;
    }
  };
  collect(gaps_of_[core], least_gaps_);
  if (!problem_.bytes_only()) collect(latencies_of_[core], least_latencies_);
}

/// The task whose children are dearest in sum, where a child beyond the incumbent (by more than `spare`) counts as just
/// so. Leaves its children in the level, the most promising first.
Index PairwiseSearch::choose_task(Level& level, double bound, double spare) {
  symmetry_.representatives(occupants_, level.representative);
  double dearest = -1;
  std::size_t chosen = 0;
  const auto rise = [&](std::size_t row, std::size_t seat) {
    return std::max(0.0, level.assignment.reduced_cost(row, seat));
  };
  const auto worth_a_try = [&](std::size_t seat) {
    const bool again = seat > 0 && level.seat_core[seat - 1] == level.seat_core[seat];
    return !again && level.representative[level.seat_core[seat]];
  };
  for (std::size_t row = 0; row < level.waiting.size(); ++row) {
    double sum = 0;
    for (std::size_t seat = 0; seat < level.seat_core.size(); ++seat) {
      if (worth_a_try(seat)) sum += std::min(spare, rise(row, seat));
    }
    if (sum > dearest) {
      dearest = sum;
      chosen = row;
    }
  }
  level.children.clear();
  for (std::size_t seat = 0; seat < level.seat_core.size(); ++seat) {
    if (!worth_a_try(seat)) continue;
    // Of a core with several free capacities the assignment may have priced one above the other.
    double least = rise(chosen, seat);
    for (std::size_t same = seat + 1; same < level.seat_core.size() && level.seat_core[same] == level.seat_core[seat];
         ++same) {
      least = std::min(least, rise(chosen, same));
    }
    level.children.push_back({bound + least, level.seat_core[seat]});
  }
  std::stable_sort(level.children.begin(), level.children.end(),
                   [](const auto& a, const auto& b) { return a.bound < b.bound; });
  return level.waiting[chosen];
}

void PairwiseSearch::place_last(Level& level, double partial) {
  if (!level.waiting.empty()) {
    const Index task = level.waiting.front();
    Index best = level.open.front();
    for (const Index core : level.open) {
      // Places that a twin makes superfluous are no worse; no need to leave them out.
      if (attached(level, task, core) < attached(level, task, best)) best = core;
    }
    partial += attached(level, task, best);
    core_of_[task] = best;
  }
  if (partial < threshold()) {
    incumbent_.cost = partial;
    for (Index task = 0; task < problem_.tasks(); ++task) incumbent_.core_of[task] = Core{core_of_[task]};
  }
  if (!level.waiting.empty()) core_of_[level.waiting.front()] = none;
}

}  // namespace

double search_pairwise(const SmallProblem& problem, const Symmetry& symmetry, SearchBudget& budget,
                       Incumbent& incumbent) {
  return PairwiseSearch(problem, symmetry, budget, incumbent).run();
}

}  // namespace rankloom
