// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: branch and bound for the congestion model, whose cost is the maximum link load.
//
// Loads only grow while tasks are placed, so the maximum load of the placed tasks is a lower bound. It is weak: this
// search solves fewer problems than the pairwise search.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/exhaustive/symmetry.hpp"

namespace rankloom {
namespace {

using Index = std::uint32_t;
constexpr Index none = std::numeric_limits<Index>::max();

class CongestionSearch {
 public:
  CongestionSearch(const MapProblem& problem, const DenseQap& qap, const MachineSymmetry& symmetry,
                   SearchBudget& budget, Incumbent& incumbent)
      : topology_(problem.topology),
        qap_(qap),
        machine_symmetry_(symmetry),
        budget_(budget),
        incumbent_(incumbent),
        task_symmetry_(qap),
        core_of_(qap.tasks(), none),
        occupants_(qap.cores(), 0),
        load_(problem.topology.link_count(), 0.0),
        children_(qap.tasks()) {
    order_tasks();
  }

  double run() {
    visit(0, 0);
    return budget_.is_exhausted() ? 0 : incumbent_.cost;
  }

 private:
  struct Child {
    double max_load;
    Index core;
  };
  struct Changed {
    Link link;
    double before;
  };

  double threshold() const { return incumbent_.cost - 1e-12 * std::abs(incumbent_.cost); }

  void order_tasks();
  void visit(Index depth, double max_load);
  double place(Index task, Index core, double max_load);
  double add_route(Index from, Index to, double bytes, double max_load);
  void undo_place(Index task, std::size_t mark);
  void list_children(Index depth, Index task, double max_load);

  const Topology& topology_;
  const DenseQap& qap_;
  const MachineSymmetry& machine_symmetry_;
  SearchBudget& budget_;
  Incumbent& incumbent_;
  TaskSymmetry task_symmetry_;
  std::vector<Index> core_of_, occupants_;
  std::vector<double> load_;  // by link, times its slowness
  std::vector<Changed> changed_;
  std::vector<Index> order_;
  std::vector<std::vector<Child>> children_;  // by depth
  std::vector<Link> route_;                   // scratch
};

/// First the task with the most traffic, then always the task with the most traffic to the tasks before it, so that
/// conflicts occur early in the search tree.
void CongestionSearch::order_tasks() {
  const auto both_directions = [&](Index i, Index j) { return qap_.bytes(i, j) + qap_.bytes(j, i); };
  std::vector<double> to_placed(qap_.tasks(), 0), to_all(qap_.tasks(), 0);
  for (Index i = 0; i < qap_.tasks(); ++i) {
    for (Index j = 0; j < qap_.tasks(); ++j) to_all[i] += i == j ? 0 : both_directions(i, j);
  }
  std::vector<bool> ordered(qap_.tasks(), false);
  while (order_.size() < qap_.tasks()) {
    Index next = none;
    for (Index i = 0; i < qap_.tasks(); ++i) {
      if (ordered[i]) continue;
      if (next == none || std::pair(to_placed[i], to_all[i]) > std::pair(to_placed[next], to_all[next])) next = i;
    }
    ordered[next] = true;
    order_.push_back(next);
    for (Index i = 0; i < qap_.tasks(); ++i) to_placed[i] += both_directions(i, next);
  }
}

void CongestionSearch::visit(Index depth, double max_load) {
  if (!budget_.visit_node()) return;
  if (depth == qap_.tasks()) {
    incumbent_.cost = max_load;
    for (Index task = 0; task < qap_.tasks(); ++task) incumbent_.core_of[task] = Core{core_of_[task]};
    return;
  }
  const Index task = order_[depth];
  list_children(depth, task, max_load);
  std::size_t tried = 0;
  for (const Child& child : children_[depth]) {
    if (child.max_load >= threshold()) break;
    const std::size_t mark = changed_.size();
    visit(depth + 1, place(task, child.core, max_load));
    undo_place(task, mark);
    task_symmetry_.mark_explored(task, child.core);
    ++tried;
    if (budget_.is_exhausted()) break;
  }
  for (std::size_t at = 0; at < tried; ++at) task_symmetry_.unmark_explored(task, children_[depth][at].core);
}

/// Sorted by increasing bound.
void CongestionSearch::list_children(Index depth, Index task, double max_load) {
  auto& children = children_[depth];
  children.clear();
  std::vector<bool> representative;
  machine_symmetry_.representatives(occupants_, representative);
  for (Index core = 0; core < qap_.cores(); ++core) {
    if (!representative[core] || occupants_[core] == qap_.capacity(core) || task_symmetry_.is_redundant(task, core))
      continue;
    const std::size_t mark = changed_.size();
    children.push_back({place(task, core, max_load), core});
    undo_place(task, mark);
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.max_load < b.max_load; });
}

double CongestionSearch::place(Index task, Index core, double max_load) {
  for (Index other = 0; other < qap_.tasks(); ++other) {
    if (core_of_[other] == none) continue;
    max_load = add_route(core, core_of_[other], qap_.bytes(task, other), max_load);
    max_load = add_route(core_of_[other], core, qap_.bytes(other, task), max_load);
  }
  core_of_[task] = core;
  ++occupants_[core];
  return max_load;
}

double CongestionSearch::add_route(Index from, Index to, double bytes, double max_load) {
  if (bytes == 0) return max_load;
  route_.clear();
  topology_.route(Core{from}, Core{to}, route_);
  for (const Link link : route_) {
    double& load = load_[index(link)];
    changed_.push_back({link, load});
    load += bytes * topology_.slowness(link);
    max_load = std::max(max_load, load);
  }
  return max_load;
}

void CongestionSearch::undo_place(Index task, std::size_t mark) {
  for (; changed_.size() > mark; changed_.pop_back()) load_[index(changed_.back().link)] = changed_.back().before;
  --occupants_[core_of_[task]];
  core_of_[task] = none;
}

}  // namespace

double search_congestion(const MapProblem& problem, const DenseQap& qap, const MachineSymmetry& symmetry,
                         SearchBudget& budget, Incumbent& incumbent) {
  return CongestionSearch(problem, qap, symmetry, budget, incumbent).run();
}

}  // namespace rankloom
