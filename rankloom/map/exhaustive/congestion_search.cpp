// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: backtracking for the largest link load.
//
// Loads only grow while tasks are placed, so the largest load among the placed tasks is a bound. It is a weak one: this
// search finishes less than the other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/map/exhaustive/twins.hpp"

namespace rankloom {
namespace {

using Index = std::uint32_t;
constexpr Index none = std::numeric_limits<Index>::max();

class CongestionSearch {
 public:
  CongestionSearch(const MapProblem& problem, const SmallProblem& small, const Symmetry& symmetry, SearchBudget& budget,
                   Incumbent& incumbent)
      : topology_(problem.topology),
        small_(small),
        symmetry_(symmetry),
        budget_(budget),
        incumbent_(incumbent),
        twins_(small),
        core_of_(small.tasks(), none),
        occupants_(small.cores(), 0),
        load_(problem.topology.network().link_count(), 0.0),
        children_(small.tasks()) {
    order_tasks();
  }

  double run() {
    visit(0, 0);
    return budget_.spent() ? 0 : incumbent_.cost;
  }

 private:
  struct Child {
    double largest;
    Index core;
  };
  struct Changed {
    Link link;
    double before;
  };

  double threshold() const { return incumbent_.cost - 1e-12 * std::abs(incumbent_.cost); }

  void order_tasks();
  void visit(Index depth, double largest);
  double place(Index task, Index core, double largest);
  double add_route(Index from, Index to, double bytes, double largest);
  void take_back(Index task, std::size_t mark);
  void list_children(Index depth, Index task, double largest);

  const Topology& topology_;
  const SmallProblem& small_;
  const Symmetry& symmetry_;
  SearchBudget& budget_;
  Incumbent& incumbent_;
  Twins twins_;
  std::vector<Index> core_of_, occupants_;
  std::vector<double> load_;  // by link, times its slowness
  std::vector<Changed> changed_;
  std::vector<Index> order_;
  std::vector<std::vector<Child>> children_;  // by depth
  std::vector<Link> route_;                   // scratch
};

/// First the task with the most traffic, then always the one that talks most to those before it: conflicts show early.
void CongestionSearch::order_tasks() {
  const auto both = [&](Index i, Index j) { return small_.bytes(i, j) + small_.bytes(j, i); };
  std::vector<double> to_placed(small_.tasks(), 0), to_all(small_.tasks(), 0);
  for (Index i = 0; i < small_.tasks(); ++i) {
    for (Index j = 0; j < small_.tasks(); ++j) to_all[i] += i == j ? 0 : both(i, j);
  }
  std::vector<bool> taken(small_.tasks(), false);
  while (order_.size() < small_.tasks()) {
    Index next = none;
    for (Index i = 0; i < small_.tasks(); ++i) {
      if (taken[i]) continue;
      if (next == none || std::pair(to_placed[i], to_all[i]) > std::pair(to_placed[next], to_all[next])) next = i;
    }
    taken[next] = true;
    order_.push_back(next);
    for (Index i = 0; i < small_.tasks(); ++i) to_placed[i] += both(i, next);
  }
}

void CongestionSearch::visit(Index depth, double largest) {
  if (!budget_.spend()) return;
  if (depth == small_.tasks()) {
    incumbent_.cost = largest;
    for (Index task = 0; task < small_.tasks(); ++task) incumbent_.core_of[task] = Core{core_of_[task]};
    return;
  }
  const Index task = order_[depth];
  list_children(depth, task, largest);
  std::size_t tried = 0;
  for (const Child& child : children_[depth]) {
    if (child.largest >= threshold()) break;
    const std::size_t mark = changed_.size();
    visit(depth + 1, place(task, child.core, largest));
    take_back(task, mark);
    twins_.remember(task, child.core);
    ++tried;
    if (budget_.spent()) break;
  }
  for (std::size_t at = 0; at < tried; ++at) twins_.forget(task, children_[depth][at].core);
}

/// The most promising first.
void CongestionSearch::list_children(Index depth, Index task, double largest) {
  auto& children = children_[depth];
  children.clear();
  std::vector<bool> representative;
  symmetry_.representatives(occupants_, representative);
  for (Index core = 0; core < small_.cores(); ++core) {
    if (!representative[core] || occupants_[core] == small_.capacities(core) || twins_.seen(task, core)) continue;
    const std::size_t mark = changed_.size();
    children.push_back({place(task, core, largest), core});
    take_back(task, mark);
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.largest < b.largest; });
}

double CongestionSearch::place(Index task, Index core, double largest) {
  for (Index other = 0; other < small_.tasks(); ++other) {
    if (core_of_[other] == none) continue;
    largest = add_route(core, core_of_[other], small_.bytes(task, other), largest);
    largest = add_route(core_of_[other], core, small_.bytes(other, task), largest);
  }
  core_of_[task] = core;
  ++occupants_[core];
  return largest;
}

double CongestionSearch::add_route(Index from, Index to, double bytes, double largest) {
  const Node a = topology_.node_of(Core{from});
  const Node b = topology_.node_of(Core{to});
  if (a == b || bytes == 0) return largest;
  route_.clear();
  topology_.network().route(a, b, route_);
  for (const Link link : route_) {
    double& load = load_[index(link)];
    changed_.push_back({link, load});
    load += bytes * topology_.network().slowness(link);
    largest = std::max(largest, load);
  }
  return largest;
}

void CongestionSearch::take_back(Index task, std::size_t mark) {
  for (; changed_.size() > mark; changed_.pop_back()) load_[index(changed_.back().link)] = changed_.back().before;
  --occupants_[core_of_[task]];
  core_of_[task] = none;
}

}  // namespace

double search_congestion(const MapProblem& problem, const SmallProblem& small, const Symmetry& symmetry,
                         SearchBudget& budget, Incumbent& incumbent) {
  return CongestionSearch(problem, small, symmetry, budget, incumbent).run();
}

}  // namespace rankloom
