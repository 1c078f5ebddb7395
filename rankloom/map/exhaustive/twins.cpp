// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: tasks that are alike.
#include "rankloom/map/exhaustive/twins.hpp"

namespace rankloom {
namespace {

using Index = std::uint32_t;

bool same_flow(const SmallProblem& problem, Index i, Index j, Index k, Index l) {
  return problem.bytes(i, j) == problem.bytes(k, l) && problem.messages(i, j) == problem.messages(k, l);
}

bool are_twins(const SmallProblem& problem, Index a, Index b) {
  if (!same_flow(problem, a, b, b, a) || !same_flow(problem, a, a, b, b)) return false;
  for (Index other = 0; other < problem.tasks(); ++other) {
    if (other == a || other == b) continue;
    if (!same_flow(problem, a, other, b, other) || !same_flow(problem, other, a, other, b)) return false;
  }
  return true;
}

}  // namespace

Twins::Twins(const SmallProblem& problem) : cores_(problem.cores()), twins_of_(problem.tasks()) {
  bool any = false;
  for (Index a = 0; a < problem.tasks(); ++a) {
    for (Index b = 0; b < problem.tasks(); ++b) {
      if (a == b || !are_twins(problem, a, b)) continue;
      twins_of_[a].push_back(b);
      any = true;
    }
  }
  if (any) seen_.resize(std::size_t{problem.tasks()} * cores_, 0);
}

void Twins::count(Index task, Index core, int step) {
  for (const Index twin : twins_of_[task]) seen_[twin * cores_ + core] += step;
}

}  // namespace rankloom
