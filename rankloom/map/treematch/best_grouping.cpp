// SPDX-License-Identifier: Apache-2.0
// map/treematch: dynamic programming over subsets.
#include "rankloom/map/treematch/best_grouping.hpp"

#include <bit>
#include <limits>
#include <vector>

namespace rankloom {
namespace {

using Set = std::uint32_t;

/// What is said inside each subset.
std::vector<double> traffic_inside(const Affinity& affinity) {
  std::vector<double> inside(std::size_t{1} << affinity.size(), 0.0);
  for (Set set = 1; set < inside.size(); ++set) {
    const auto lowest = static_cast<std::uint32_t>(std::countr_zero(set));
    inside[set] = inside[set & (set - 1)];
    const auto near = affinity.neighbours(lowest);
    for (std::size_t edge = 0; edge < near.size(); ++edge) {
      if (((set >> near[edge]) & 1) != 0) inside[set] += affinity.weights(lowest)[edge];
    }
  }
  return inside;
}

}  // namespace

Groups best_grouping(const Affinity& affinity, std::uint32_t size, std::uint32_t groups) {
  const std::vector<double> inside = traffic_inside(affinity);
  const auto everybody = static_cast<Set>(inside.size() - 1);
  const std::uint32_t most = std::min(groups, affinity.size());
  // best[k][set]: the most that can be said inside, with the set cut into at most k groups; choice: the group with the
  // set's lowest element.
  const double impossible = -std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(most + std::size_t{1}, std::vector<double>(inside.size(), impossible));
  std::vector<std::vector<Set>> choice(most + std::size_t{1}, std::vector<Set>(inside.size(), 0));
  for (auto& row : best) row[0] = 0;
  for (std::uint32_t k = 1; k <= most; ++k) {
    for (Set set = 1; set < inside.size(); ++set) {
      const Set lowest = set & -set, others = set ^ lowest;
      if (static_cast<std::uint64_t>(std::popcount(set)) > std::uint64_t{k} * size) continue;
      for (Set more = others;; more = (more - 1) & others) {
        const Set group = more | lowest;
        const double value = inside[group] + best[k - 1][set ^ group];
        if (static_cast<std::uint32_t>(std::popcount(group)) <= size && value > best[k][set]) {
          best[k][set] = value;
          choice[k][set] = group;
        }
        if (more == 0) break;
      }
    }
  }
  std::uint32_t fewest = most;
  while (fewest > 1 && best[fewest - 1][everybody] == best[most][everybody]) --fewest;
  Groups found;
  for (Set set = everybody; set != 0; set ^= choice[fewest][set], --fewest) {
    const Set group = choice[fewest][set];
    for (std::uint32_t element = 0; element < affinity.size(); ++element) {
      if (((group >> element) & 1) != 0) found.members.push_back(element);
    }
    found.close();
    if ((set ^ group) == 0) break;
  }
  return found;
}

}  // namespace rankloom
