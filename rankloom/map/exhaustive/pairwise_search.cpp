// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: branch and bound for the cost models that are sums over pairs, which are QAPs: the tasks are the
// facilities, the cores (slots) are the locations.
//
// Bound: Gilmore 1962, Lawler 1963, for fewer tasks than slots. With some tasks placed, an unplaced task i on a core p
// with a free slot costs at least
//     c(i,p) = its traffic with the placed tasks + its traffic with the unplaced tasks, the largest amounts over the
//     shortest distances
// (the minimal scalar product), and a placement of all unplaced tasks costs at least the linear assignment over c. The
// reduced costs of the assignment bound every child too, so most children are pruned without a visit. They also select
// the task to branch on: the one with the largest sum of reduced costs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/exhaustive/linear_assignment.hpp"
#include "rankloom/map/exhaustive/symmetry.hpp"

namespace rankloom {
namespace {

using Index = std::uint32_t;
constexpr Index no_core = std::numeric_limits<Index>::max();

class PairwiseSearch {
 public:
  PairwiseSearch(const DenseQap& problem, const MachineSymmetry& symmetry, SearchBudget& budget, Incumbent& incumbent)
      : problem_(problem),
        machine_symmetry_(symmetry),
        budget_(budget),
        incumbent_(incumbent),
        task_symmetry_(problem),
        core_of_(problem.tasks(), no_core),
        occupants_(problem.cores(), 0),
        levels_(problem.tasks() + 1) {
    sort_traffic();
    sort_distances();
    set_forbidden_cost();
    Level& root = levels_[0];
    root.attached.resize(std::size_t{problem.tasks()} * problem.cores());
    for (Index task = 0; task < problem.tasks(); ++task) {
      for (Index core = 0; core < problem.cores(); ++core) attached(root, task, core) = problem.self_cost(task, core);
    }
  }

  double run() {
    const double root_bound = visit(0, 0);
    return budget_.is_exhausted() ? std::min(root_bound, incumbent_.cost) : incumbent_.cost;
  }

 private:
  /// The working memory of one depth of the search.
  struct Level {
    std::vector<double> attached;  // by task and core: cost of the task's traffic with itself and the placed tasks
    std::vector<Index> unplaced;   // unplaced tasks
    std::vector<Index> open;       // cores with a free slot
    std::vector<Index> slot_core;  // the core of each free slot, with at most one slot per unplaced task on a core
    std::vector<double> cost;      // the table of the assignment: unplaced x slots
    LinearAssignment assignment;
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

  /// A cost below this is better than the incumbent, apart from rounding errors.
  double threshold() const { return incumbent_.cost - 1e-12 * std::abs(incumbent_.cost); }

  void sort_traffic();
  void sort_distances();
  void set_forbidden_cost();
  double visit(Index depth, double partial);
  void list_remaining(Level& level) const;
  void fill_costs(Level& level);
  void shortest_distances(Index core, std::size_t count);
  Index choose_task(Level& level, double bound, double spare);
  void place_last_task(Level& level, double partial);

  const DenseQap& problem_;
  const MachineSymmetry& machine_symmetry_;
  SearchBudget& budget_;
  Incumbent& incumbent_;
  TaskSymmetry task_symmetry_;
  double forbidden_cost_ = 0;  // above the cost of every placement, but not so large that sums lose precision
  std::vector<Index> core_of_;
  std::vector<Index> occupants_;
  std::vector<Level> levels_;

  struct Ranked {
    double amount;
    Index other;
  };
  // By task, the largest traffic first; by core, the shortest distance first. For bytes and for messages.
  std::vector<std::vector<Ranked>> bytes_of_, messages_of_, inverse_bandwidths_of_, latencies_of_;
  std::vector<double> heaviest_bytes_, heaviest_messages_, lowest_inverse_bandwidths_, lowest_latencies_;  // scratch
};

/// Each direction of a pair's traffic is counted once: at its sender, or, if distances are symmetric, half at each end,
/// which gives a better bound.
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
    inverse_bandwidths_of_.push_back(ranked(core, [](const PairCost& pair) { return pair.per_byte; }));
    latencies_of_.push_back(ranked(core, [](const PairCost& pair) { return pair.per_message; }));
  }
}

void PairwiseSearch::set_forbidden_cost() {
  double total_bytes = 0, total_messages = 0, longest = 0, slowest = 0;
  for (Index i = 0; i < problem_.tasks(); ++i) {
    for (Index j = 0; j < problem_.tasks(); ++j) {
      total_bytes += problem_.bytes(i, j);
      total_messages += problem_.messages(i, j);
    }
  }
  for (Index p = 0; p < problem_.cores(); ++p) {
    for (Index q = 0; q < problem_.cores(); ++q) {
      longest = std::max(longest, std::abs(problem_.distance(p, q).per_byte));
      slowest = std::max(slowest, std::abs(problem_.distance(p, q).per_message));
    }
  }
  // Twice, because costs may be negative: the other tasks may reduce the cost by as much as they could add.
  forbidden_cost_ = 1 + 2 * (total_bytes * longest + total_messages * slowest);
}

/// Returns the bound of this partial placement. `partial`: the cost of the traffic between its placed tasks.
double PairwiseSearch::visit(Index depth, double partial) {
  Level& level = levels_[depth];
  if (!budget_.visit_node()) return partial;
  list_remaining(level);
  if (level.unplaced.size() <= 1) {
    place_last_task(level, partial);
    return partial;
  }
  fill_costs(level);
  const double bound = partial + level.assignment.solve(level.cost, level.unplaced.size(), level.slot_core.size());
  if (bound >= threshold()) return bound;

  const Index task = choose_task(level, bound, threshold() - bound);
  Level& below = levels_[depth + 1];
  std::size_t tried = 0;
  for (const auto& [child_bound, core] : level.children) {
    if (child_bound >= threshold()) break;
    core_of_[task] = core;
    ++occupants_[core];
    below.attached = level.attached;
    for (const Index other : level.unplaced) {
      if (other == task) continue;
      for (const Index other_core : level.open) {
        attached(below, other, other_core) += problem_.pair_cost(task, core, other, other_core);
      }
    }
    visit(depth + 1, partial + attached(level, task, core));
    --occupants_[core];
    core_of_[task] = no_core;
    task_symmetry_.mark_explored(task, core);
    ++tried;
    if (budget_.is_exhausted()) break;
  }
  for (std::size_t at = 0; at < tried; ++at) task_symmetry_.unmark_explored(task, level.children[at].core);
  return bound;
}

void PairwiseSearch::list_remaining(Level& level) const {
  level.unplaced.clear();
  level.open.clear();
  level.slot_core.clear();
  for (Index task = 0; task < problem_.tasks(); ++task) {
    if (core_of_[task] == no_core) level.unplaced.push_back(task);
  }
  for (Index core = 0; core < problem_.cores(); ++core) {
    const Index free_slots = problem_.capacity(core) - occupants_[core];
    if (free_slots == 0) continue;
    level.open.push_back(core);
    level.slot_core.insert(level.slot_core.end(), std::min<std::size_t>(free_slots, level.unplaced.size()), core);
  }
}

void PairwiseSearch::fill_costs(Level& level) {
  const std::size_t slots = level.slot_core.size();
  const std::size_t partners = level.unplaced.size() - 1;
  level.cost.resize(level.unplaced.size() * slots);
  // The traffic between the unplaced tasks, the largest amount of each row first.
  heaviest_bytes_.clear();
  heaviest_messages_.clear();
  for (const Index task : level.unplaced) {
    for (const Ranked& entry : bytes_of_[task]) {
      if (core_of_[entry.other] == no_core) heaviest_bytes_.push_back(entry.amount);
    }
    for (const Ranked& entry : messages_of_[task]) {
      if (core_of_[entry.other] == no_core) heaviest_messages_.push_back(entry.amount);
    }
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const Index core = level.slot_core[slot];
    const bool same_core = slot > 0 && level.slot_core[slot - 1] == core;
    if (!same_core) shortest_distances(core, partners);
    for (std::size_t row = 0; row < level.unplaced.size(); ++row) {
      double& cost = level.cost[row * slots + slot];
      if (same_core || task_symmetry_.is_redundant(level.unplaced[row], core)) {
        cost = same_core ? level.cost[row * slots + slot - 1] : forbidden_cost_;
        continue;
      }
      cost = attached(level, level.unplaced[row], core);
      const double* const bytes = heaviest_bytes_.data() + row * partners;
      for (std::size_t at = 0; at < partners; ++at) cost += bytes[at] * lowest_inverse_bandwidths_[at];
      if (problem_.bytes_only()) continue;
      const double* const messages = heaviest_messages_.data() + row * partners;
      for (std::size_t at = 0; at < partners; ++at) cost += messages[at] * lowest_latencies_[at];
    }
  }
}

/// The distances from a task on this core to the closest slots that are free for the other tasks.
void PairwiseSearch::shortest_distances(Index core, std::size_t count) {
  const auto collect = [&](const std::vector<Ranked>& by_distance, std::vector<double>& shortest) {
    shortest.clear();
    for (const Ranked& entry : by_distance) {
      Index free_slots = problem_.capacity(entry.other) - occupants_[entry.other] - (entry.other == core ? 1 : 0);
      for (; free_slots > 0 && shortest.size() < count; --free_slots) shortest.push_back(entry.amount);
      if (shortest.size() == count) return;
    }
  };
  collect(inverse_bandwidths_of_[core], lowest_inverse_bandwidths_);
  if (!problem_.bytes_only()) collect(latencies_of_[core], lowest_latencies_);
}

/// The task with the largest sum of its children's reduced costs, each capped at `spare`, the difference between the
/// incumbent and the bound. Stores its children in the level, sorted by increasing bound.
Index PairwiseSearch::choose_task(Level& level, double bound, double spare) {
  machine_symmetry_.representatives(occupants_, level.representative);
  double max_sum = -1;
  std::size_t chosen = 0;
  const auto increase = [&](std::size_t row, std::size_t slot) {
    return std::max(0.0, level.assignment.reduced_cost(row, slot));
  };
  const auto is_branch = [&](std::size_t slot) {
    const bool same_core = slot > 0 && level.slot_core[slot - 1] == level.slot_core[slot];
    return !same_core && level.representative[level.slot_core[slot]];
  };
  for (std::size_t row = 0; row < level.unplaced.size(); ++row) {
    double sum = 0;
    for (std::size_t slot = 0; slot < level.slot_core.size(); ++slot) {
      if (is_branch(slot)) sum += std::min(spare, increase(row, slot));
    }
    if (sum > max_sum) {
      max_sum = sum;
      chosen = row;
    }
  }
  level.children.clear();
  for (std::size_t slot = 0; slot < level.slot_core.size(); ++slot) {
    if (!is_branch(slot)) continue;
    // The slots of one core may have different reduced costs.
    double lowest = increase(chosen, slot);
    for (std::size_t same = slot + 1; same < level.slot_core.size() && level.slot_core[same] == level.slot_core[slot];
         ++same) {
      lowest = std::min(lowest, increase(chosen, same));
    }
    level.children.push_back({bound + lowest, level.slot_core[slot]});
  }
  std::stable_sort(level.children.begin(), level.children.end(),
                   [](const auto& a, const auto& b) { return a.bound < b.bound; });
  return level.unplaced[chosen];
}

void PairwiseSearch::place_last_task(Level& level, double partial) {
  if (!level.unplaced.empty()) {
    const Index task = level.unplaced.front();
    Index best = level.open.front();
    for (const Index core : level.open) {
      // Redundant cores (see TaskSymmetry) are not worse, so they need not be excluded here.
      if (attached(level, task, core) < attached(level, task, best)) best = core;
    }
    partial += attached(level, task, best);
    core_of_[task] = best;
  }
  if (partial < threshold()) {
    incumbent_.cost = partial;
    for (Index task = 0; task < problem_.tasks(); ++task) incumbent_.core_of[task] = Core{core_of_[task]};
  }
  if (!level.unplaced.empty()) core_of_[level.unplaced.front()] = no_core;
}

}  // namespace

double search_pairwise(const DenseQap& problem, const MachineSymmetry& symmetry, SearchBudget& budget,
                       Incumbent& incumbent) {
  return PairwiseSearch(problem, symmetry, budget, incumbent).run();
}

}  // namespace rankloom
